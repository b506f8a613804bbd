"""The OpenAPI document against the service, by programs that know nothing but the document."""
