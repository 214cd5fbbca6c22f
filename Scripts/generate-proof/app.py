"""A FastAPI application for Scripts/generate-proof.py: it uses many features of OpenAPI."""

import datetime
import enum
import uuid
from typing import Annotated, Literal

from fastapi import Body, Cookie, Depends, FastAPI, File, Form, Header, HTTPException, Path, Query, Request, Response
from fastapi import UploadFile
from fastapi.responses import FileResponse, PlainTextResponse
from fastapi.security import HTTPBearer
from pydantic import AnyUrl, BaseModel, ConfigDict, Field

# FastAPI answers a body that is not JSON, and a request without a credential, by statuses that it does not document.
app = FastAPI(
    title="Proof Library", version="1", description="Lends books.\n\nAnd */ other \"things\" \\(too).",
    responses={400: {"description": "Bad request"}})
bearer = HTTPBearer()
PICTURE = bytes(range(256)) * 64


class Genre(str, enum.Enum):
    novel = "novel"
    poetry = "poetry"
    non_fiction = "non-fiction"
    default = "default"
    fifty = "50/50"


class Stars(enum.IntEnum):
    one = 1
    five = 5


class Author(BaseModel):
    name: str
    born: datetime.date | None = None
    site: AnyUrl | None = None


class NewBook(BaseModel):
    title: Annotated[str, Field(min_length=1, description='The title. """ */ \\(fatalError())')]
    genre: Genre = Genre.novel
    subtitle: str | None
    authors: list[Author] = []
    tags: set[str] = set()
    prices: dict[str, float] = {}
    stars: Stars | None = None
    self_: Annotated[str | None, Field(alias="self")] = None
    container: str | None = None
    copies: int | str = 1
    model_config = ConfigDict(populate_by_name=True)


class Book(NewBook):
    id: uuid.UUID
    added: datetime.datetime


class Extra(BaseModel):
    model_config = ConfigDict(extra="allow")
    key: str


class Tree(BaseModel):
    value: int
    left: "Tree | None" = None
    children: list["Tree"] = []


# Twice a greatest number would be infinite, which JSON cannot express.
LONGEST = 1e300
Length = Annotated[float, Field(ge=-LONGEST, le=LONGEST)]


class Circle(BaseModel):
    kind: Literal["circle"]
    radius: Length


class Square(BaseModel):
    kind: Literal["square"]
    side: Length
    nested: "Annotated[Circle | Square, Field(discriminator='kind')] | None" = None


Shape = Annotated[Circle | Square, Field(discriminator="kind")]


class Problem(BaseModel):
    reason: str


class Filter(BaseModel):
    limit: int = 10
    order: Literal["up", "down"] = "up"
    words: list[str] = []


BOOK = uuid.UUID("8a1b2c3d-0000-4000-8000-000000000001")
ADDED = datetime.datetime(2026, 1, 31, 12, 0, 0, 250000, tzinfo=datetime.UTC)


@app.get("/books/{book_id}", tags=["books"])
def read_book(book_id: uuid.UUID, verbose: bool = False) -> Book:
    return Book(
        id=book_id, title="Verbose" if verbose else "Plain", subtitle=None, added=ADDED,
        authors=[Author(name="Ada", born=datetime.date(1815, 12, 10), site="https://example.com/ada")])


@app.post("/books", status_code=201, tags=["books"])
def add_book(book: NewBook) -> Book:
    return Book(**book.model_dump(), id=BOOK, added=ADDED)


@app.put("/books/{book_id}/note", status_code=204, tags=["books"])
def set_note(book_id: uuid.UUID, note: Annotated[str, Body(embed=True)]) -> None:
    if note != "ü":
        raise HTTPException(400, "wrong note")


@app.delete("/books/{book_id}", status_code=204, responses={404: {"model": Problem}})
def delete_book(book_id: uuid.UUID):
    if book_id != BOOK:
        return Response('{"reason": "no such book"}', status_code=404, media_type="application/json")
    return Response(status_code=204)


@app.get("/search")
def search(
    q: Annotated[str, Query(alias="search-text", min_length=2)],
    genres: Annotated[list[Genre], Query()] = [],
    since: datetime.datetime | None = None,
    day: datetime.date | None = None,
    stars: Stars | None = None,
    path: str | None = None,
    x_trace: Annotated[uuid.UUID | None, Header()] = None,
    x_parts: Annotated[list[str] | None, Header()] = None,
    session: Annotated[str | None, Cookie()] = None,
) -> dict[str, str | None]:
    return {
        "q": q, "genres": " ".join(genre.value for genre in genres), "since": since and since.isoformat(),
        "day": day and day.isoformat(), "stars": stars and str(int(stars)), "path": path,
        "trace": x_trace and str(x_trace), "parts": x_parts and ",".join(x_parts), "session": session,
    }


@app.get("/filtered")
def filtered(filter: Annotated[Filter, Query()]) -> Filter:
    return filter


@app.get("/files/{name:path}")
def locate(name: Annotated[str, Path()]) -> str:
    return name


@app.get("/days/{day}")
def find_day(day: datetime.date, response: Response) -> datetime.date:
    return day + datetime.timedelta(days=1)


def twice(length: float) -> float:
    return max(-LONGEST, min(length * 2, LONGEST))


@app.post("/shapes")
def double_shape(shape: Shape) -> Shape:
    if isinstance(shape, Circle):
        return Circle(kind="circle", radius=twice(shape.radius))
    return Square(kind="square", side=twice(shape.side), nested=shape.nested)


@app.post("/tree")
def mirror_tree(tree: Tree) -> Tree:
    return Tree(value=tree.value + 1, left=tree, children=tree.children[::-1])


@app.post("/extra")
def echo_extra(extra: Extra) -> Extra:
    return extra


@app.post("/numbers")
def add_numbers(numbers: list[int]) -> int:
    return sum(numbers)


@app.post("/mixed")
def mixed(values: list[int | str | bool | None]) -> list[int | str | bool | None]:
    return values[::-1]


@app.post("/upload/{shelf}")
async def upload(
    shelf: int, title: Annotated[str, Form()], picture: UploadFile, more: Annotated[list[UploadFile], File()],
    stars: Annotated[Stars, Form()] = Stars.one, note: Annotated[str | None, Form()] = None,
) -> dict[str, int | str]:
    return {
        "shelf": shelf, "title": title, "size": len(await picture.read()), "more": len(more), "stars": int(stars),
        "note": note or "",
    }


@app.post("/login")
def login(user: Annotated[str, Form()], scopes: Annotated[list[str], Form()]) -> str:
    return f"{user}:{'+'.join(scopes)}"


@app.get("/picture", response_class=Response, responses={200: {"content": {"image/png": {}}}})
def picture():
    return Response(PICTURE, media_type="image/png")


@app.get("/source", response_class=FileResponse)
def source():
    return FileResponse(__file__, media_type="text/x-python")


@app.put(
    "/raw", openapi_extra={
        "requestBody": {"required": True, "content": {"application/octet-stream": {
            "schema": {"type": "string", "format": "binary"}}}}})
async def raw(request: Request) -> int:
    return len(await request.body())


@app.get("/text", response_class=PlainTextResponse)
def text():
    return "plain \u00fc"


@app.get("/me", responses={401: {"description": "No credential"}})
def me(credential: Annotated[object, Depends(bearer)]) -> str:
    return credential.credentials


@app.head("/ping", response_class=Response)
def ping():
    return Response(headers={"X-Ping": "1"})


@app.get("/nothing", status_code=204)
def nothing() -> None:
    return None
