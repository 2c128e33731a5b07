"""The routes of access and operation: login and logout, tokens, health, metrics."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Request
from pydantic import BaseModel, Field, model_validator
from starlette.responses import PlainTextResponse, Response

from ramgape.errors import RamgapeError, UnknownName
from ramgape.web.access.middleware import AccessContext, session_cookie
from ramgape.web.access.roles import Access, access_of
from ramgape.web.access.token_file import DEFAULT_DAYS, MOST_DAYS, MOST_PATTERNS
from ramgape.web.answers import Json, refusals
from ramgape.web.errors import Forbidden, NotFound
from ramgape.web.forms import FormRoute
from ramgape.web.metrics import MEDIA_TYPE
from ramgape.web.schema import Name, Number, StrictBody

OPEN: dict[str, Any] = {"security": []}  # in the description: it needs no token
TokenId = Annotated[str, Path(min_length=1, max_length=40)]


class Login(StrictBody):
    """A code, as the login link has it, or a token."""

    code: Name | None = None
    token: Name | None = None

    @model_validator(mode="after")
    def _one(self) -> Login:
        if (self.code is None) == (self.token is None):
            raise ValueError("either code or token is needed")
        return self


class LoggedIn(BaseModel):
    """What a browser may do now; its session is a cookie."""

    role: Literal["read"]
    name: str


class NewToken(StrictBody):
    """What a token is to be."""

    role: Literal["read", "work", "admin"]
    name: Name | None = None
    studies: list[Name] = Field(default=["*"], min_length=1, max_length=MOST_PATTERNS)
    days: Annotated[Number, Field(gt=0, le=MOST_DAYS)] | None = DEFAULT_DAYS


class KnownToken(BaseModel):
    """What is known of a token."""

    id: str
    name: str
    role: str
    studies: list[str]
    created: str
    expires: str | None
    last_used: str | None


class MadeToken(KnownToken):
    """A token that was just made, and the token itself."""

    token: str


class AllTokens(BaseModel):
    """All of them."""

    tokens: list[KnownToken]


class Health(BaseModel):
    """Whether the server serves."""

    status: Literal["ok", "stopping"]


def operation_routes(context: AccessContext) -> APIRouter:
    """What belongs to no version of the API."""
    router = APIRouter(tags=["operate"])

    @router.get(
        "/healthz",
        response_model=Health,
        responses={503: {"model": Health, "description": "It is about to stop."}},
        openapi_extra=OPEN,
    )
    @router.head("/healthz", include_in_schema=False)
    async def health() -> Json:
        """Whether the server serves; nothing else."""
        return Json({"status": "stopping" if context.stopping else "ok"}, 503 if context.stopping else 200)

    @router.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}, **refusals()})
    async def metrics() -> PlainTextResponse:
        """What the server has counted, as Prometheus reads it."""
        return PlainTextResponse(context.metrics.text(), media_type=MEDIA_TYPE)

    return router


def access_routes(context: AccessContext) -> APIRouter:
    """Who comes in, below the base of the API."""
    router = APIRouter(tags=["access"], route_class=FormRoute)

    @router.post("/login", response_model=LoggedIn, responses=refusals(), openapi_extra=OPEN)
    async def log_in(body: Login, request: Request) -> Json:
        """A code or a token becomes a browser's session, which may only look."""
        headers = dict(request.scope["headers"])
        address = context.hosts.address_of(request.scope.get("client"), headers)
        try:
            made, session = context.logins.log_in(address, code=body.code, token=body.token)
        except RamgapeError as error:
            context.metrics.count("ramgape_logins_total", outcome="refused")
            context.log.write("warning", "a login was refused", error=type(error).__name__, address=address)
            raise
        context.metrics.count("ramgape_logins_total", outcome="done")
        context.log.write("info", "a browser has logged in", token=session.access.name, address=address)
        answer = Json({"role": session.access.role, "name": session.access.name})
        _set_cookie(context, answer, headers, made, int(3600 * context.settings.session_hours))
        return answer

    @router.post("/logout", status_code=204, response_class=Response, responses=refusals())
    async def log_out(request: Request) -> Response:
        """End the browser's session."""
        headers = dict(request.scope["headers"])
        context.logins.log_out(session_cookie(headers, context.hosts) or b"")
        answer = Response(status_code=204)
        _set_cookie(context, answer, headers, "", 0)
        return answer

    @router.get("/tokens", response_model=AllTokens, responses=refusals())
    def tokens(request: Request) -> Json:
        """All tokens, without what is secret of them."""
        manager(request)
        return Json({"tokens": [each.to_dict() for each in context.tokens.file.read().values()]})

    @router.post("/tokens", status_code=201, response_model=MadeToken, responses=refusals())
    def new_token(body: NewToken, request: Request) -> Json:
        """A new token. It is shown now, and never again."""
        by = manager(request)
        made, secret = context.tokens.file.add(body.role, body.studies, body.days, body.name)
        context.tokens.look()
        context.log.write("info", "a token was made", id=made.id, role=made.role, token=by.name)
        return Json({**made.to_dict(), "token": secret}, 201)

    @router.delete("/tokens/{id}", status_code=204, response_class=Response, responses=refusals(404))
    def revoke(id: TokenId, request: Request) -> Response:  # noqa: A002 - as it is called in the API
        """Revoke a token, and end the sessions that it began."""
        by = manager(request)
        try:
            context.tokens.file.revoke(id)
        except UnknownName:
            raise NotFound(f"there is no token {id!r}") from None
        context.tokens.look()
        context.log.write("info", "a token was revoked", id=id, token=by.name)
        return Response(status_code=204)

    return router


def manager(request: Request) -> Access:
    """Require a token that may make tokens: with one for some studies, its owner could make one for all."""
    access = access_of(request)
    access.require("admin")
    if not access.unlimited:
        raise Forbidden(what="a token that manages tokens", allowed="one for all studies", given=repr(access.studies))
    return access


def _set_cookie(
    context: AccessContext, answer: Response, headers: dict[bytes, bytes], value: str, seconds: int
) -> None:
    answer.set_cookie(
        context.hosts.cookie.decode(),
        value,
        max_age=seconds,
        path="/",
        secure=context.hosts.is_secure(headers.get(b"host", b"")),
        httponly=True,
        samesite="strict",
    )
