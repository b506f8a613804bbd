# syntax=docker/dockerfile:1
# The service and nothing else: no compiler, no installer, no root. All it writes is its data folder, so the rest may be read-only:
#   docker run --read-only --volume roofline:/data --publish 127.0.0.1:8000:8000 --env ROOFLINE_ALLOW_UNAUTHENTICATED=true IMAGE
# Without that last variable it refuses to start unless its database has keys, since inside a container it listens beyond the loopback:
#   docker run --rm --volume roofline:/data IMAGE keys create NAME --scope evaluate

FROM python:3.13-slim AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore
WORKDIR /build
RUN python -m venv --without-pip /opt/roofline
# What changes least comes first, so that a change of the service does not install its dependencies again.
COPY requirements.lock requirements-build.lock ./
RUN pip --python /opt/roofline/bin/python install --require-hashes --only-binary :all: -r requirements.lock \
 && pip install --require-hashes --only-binary :all: -r requirements-build.lock
COPY pyproject.toml README.md LICENSE ./
COPY migrations migrations
COPY service service
RUN python -m hatchling build --target wheel \
 && pip --python /opt/roofline/bin/python install --no-index --no-deps dist/*.whl

FROM python:3.13-slim
RUN groupadd --gid 10001 roofline \
 && useradd --uid 10001 --gid roofline --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin roofline \
 && install --directory --owner=roofline --group=roofline --mode=0700 /data
COPY --from=build /opt/roofline /opt/roofline
ENV PATH=/opt/roofline/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    ROOFLINE_DATA=/data
USER 10001:10001
WORKDIR /data
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=15s --retries=3 \
  CMD ["python", "-I", "-c", "import os, urllib.request as web; web.build_opener(web.ProxyHandler({})).open('http://127.0.0.1:%s/livez' % (os.environ.get('ROOFLINE_PORT') or 8000), timeout=3)"]
ENTRYPOINT ["roofline"]
CMD ["serve", "--host", "0.0.0.0"]
