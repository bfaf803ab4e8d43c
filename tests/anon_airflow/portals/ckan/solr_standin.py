"""A stand-in for the part of Apache Solr that an unmodified CKAN talks to, where no Solr can be had.

It is not Solr: no index, no scores, no stemming. Everything else of the CKAN under test is real. It speaks ``select``,
``update`` as pysolr sends it, and ``schema``; what it does not know it answers with 400, never with a guess.

    python -m tests.anon_airflow.portals.ckan.solr_standin --port 8999 --schema schema.xml
"""

from __future__ import annotations

import argparse
import json
import sys
import xml.etree.ElementTree as ET
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.anon_airflow.portals.ckan.solr_documents import Documents
from tests.anon_airflow.portals.ckan.solr_schema import BadQueryError, Schema

BASE = "/solr/ckan/"


class Handler(BaseHTTPRequestHandler):
    """One request."""

    protocol_version = "HTTP/1.1"
    documents: Documents

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the library's name
        """Say nothing of requests that went well."""

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            status, answer = self._do(body)
        except (BadQueryError, ET.ParseError, ValueError) as error:
            sys.stderr.write(f"400 {self.path}: {error}\n")
            sys.stderr.flush()
            status, answer = 400, {"error": {"msg": str(error), "code": 400}}
        content = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/xml" if isinstance(answer, bytes) else "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _do(self, body: bytes) -> tuple[int, dict[str, Any] | bytes]:
        address = urlsplit(self.path)
        what = address.path.removeprefix(BASE).strip("/")
        if what == "select":
            posted = parse_qs(body.decode(), keep_blank_values=True) if self.command == "POST" else {}
            return 200, self.documents.select({**parse_qs(address.query, keep_blank_values=True), **posted})
        if what == "update":
            if body:
                self.documents.update(body)
            return 200, {"responseHeader": {"status": 0, "QTime": 0}}
        if what == "schema":
            return 200, self.documents.schema.raw
        if what == "admin/ping":
            return 200, {"status": "OK"}
        return 404, {"error": {"msg": f"not known: {what}", "code": 404}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--schema", type=Path, required=True)
    options = parser.parse_args()
    Handler.documents = Documents(Schema(options.schema))
    ThreadingHTTPServer(("127.0.0.1", options.port), Handler).serve_forever()


if __name__ == "__main__":
    main()
