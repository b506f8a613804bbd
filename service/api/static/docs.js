// validatorUrl: null keeps the page from asking a validator on another host.
window.SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#docs",
  deepLinking: true,
  validatorUrl: null,
  displayRequestDuration: true,
  tryItOutEnabled: true,
});
