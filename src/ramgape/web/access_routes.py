"""The routes of access and operation: login and logout, tokens, health, metrics."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse, PlainTextResponse
from pydantic import BaseModel, ConfigDict, Field, model_validator

from ramgape.common.checks import LONGEST_NAME
from ramgape.errors import RamgapeError, UnknownName
from ramgape.web.access import Access, access_of
from ramgape.web.errors import Forbidden, NotFound
from ramgape.web.guard import Gate, session_cookie
from ramgape.web.metrics import MEDIA_TYPE
from ramgape.web.token_file import DEFAULT_DAYS, MOST_DAYS, MOST_PATTERNS

Text = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]


class Body(BaseModel):
    """Bodies say what they mean: unknown keys are refused."""

    model_config = ConfigDict(extra="forbid")


class Login(Body):
    """A code, as the login link has it, or a token."""

    code: Text | None = None
    token: Text | None = None

    @model_validator(mode="after")
    def _one(self) -> Login:
        if (self.code is None) == (self.token is None):
            raise ValueError("either code or token is needed")
        return self


class NewToken(Body):
    """What a token is to be."""

    role: str = Field(json_schema_extra={"enum": ["read", "work", "admin"]})
    name: Text | None = None
    studies: list[Text] = Field(default=["*"], min_length=1, max_length=MOST_PATTERNS)
    days: float | None = Field(default=DEFAULT_DAYS, gt=0.0, le=MOST_DAYS)


def operation_routes(gate: Gate) -> APIRouter:
    """What belongs to no version of the API."""
    router = APIRouter(tags=["operation"])

    @router.get("/healthz", summary="Whether the server serves; it says nothing else.")
    @router.head("/healthz", include_in_schema=False)
    async def health() -> JSONResponse:
        return JSONResponse({"status": "stopping" if gate.stopping else "ok"}, 503 if gate.stopping else 200)

    @router.get("/metrics", response_class=PlainTextResponse, summary="What it has counted, for Prometheus.")
    async def metrics() -> PlainTextResponse:
        return PlainTextResponse(gate.metrics.text(), media_type=MEDIA_TYPE)

    return router


def access_routes(gate: Gate) -> APIRouter:
    """Who comes in, below the base of the API."""
    router = APIRouter(tags=["access"])

    @router.post("/login", summary="A code or a token becomes a browser's session, which may only look.")
    async def log_in(body: Login, request: Request) -> JSONResponse:
        headers = dict(request.scope["headers"])
        address = gate.hosts.address_of(request.scope.get("client"), headers)
        try:
            made, session = gate.logins.log_in(address, code=body.code, token=body.token)
        except RamgapeError as error:
            gate.metrics.count("ramgape_logins_total", outcome="refused")
            gate.log.write("warning", "a login was refused", error=type(error).__name__, address=address)
            raise
        gate.metrics.count("ramgape_logins_total", outcome="done")
        gate.log.write("info", "a browser has logged in", token=session.access.name, address=address)
        answer = JSONResponse({"role": session.access.role, "name": session.access.name})
        _set_cookie(gate, answer, headers, made, int(3600 * gate.settings.session_hours))
        return answer

    @router.post("/logout", status_code=204, summary="End the browser's session.")
    async def log_out(request: Request) -> Response:
        headers = dict(request.scope["headers"])
        gate.logins.log_out(session_cookie(headers, gate.hosts) or b"")
        answer = Response(status_code=204)
        _set_cookie(gate, answer, headers, "", 0)
        return answer

    @router.get("/tokens", summary="All tokens, without what is secret of them.")
    def tokens(request: Request) -> dict[str, Any]:
        manager(request)
        return {"tokens": [each.to_dict() for each in gate.tokens.file.read().values()]}

    @router.post("/tokens", status_code=201, summary="A new token. It is shown now, and never again.")
    def new_token(body: NewToken, request: Request) -> JSONResponse:
        by = manager(request)
        made, secret = gate.tokens.file.add(body.role, body.studies, body.days, body.name)
        gate.tokens.look()
        gate.log.write("info", "a token was made", id=made.id, role=made.role, token=by.name)
        return JSONResponse({**made.to_dict(), "token": secret}, 201)

    @router.delete("/tokens/{id}", status_code=204, summary="Revoke a token, and end the sessions that it began.")
    def revoke(id: str, request: Request) -> Response:  # noqa: A002 - as it is called in the API
        by = manager(request)
        try:
            gate.tokens.file.revoke(id)
        except UnknownName:
            raise NotFound(f"there is no token {id[:40]!r}") from None
        gate.tokens.look()
        gate.log.write("info", "a token was revoked", id=id, token=by.name)
        return Response(status_code=204)

    return router


def manager(request: Request) -> Access:
    """Whoever may make tokens: with one for some studies he could make himself one for all."""
    access = access_of(request)
    access.require("admin")
    if not access.unlimited:
        raise Forbidden(what="a token that manages tokens", allowed="one for all studies", given=repr(access.studies))
    return access


def _set_cookie(gate: Gate, answer: Response, headers: dict[bytes, bytes], value: str, seconds: int) -> None:
    answer.set_cookie(
        gate.hosts.cookie.decode(),
        value,
        max_age=seconds,
        path="/",
        secure=gate.hosts.is_secure(headers.get(b"host", b"")),
        httponly=True,
        samesite="strict",
    )
