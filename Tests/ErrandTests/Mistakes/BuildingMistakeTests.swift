import Errand
import ErrandTesting
import Foundation
import Testing

/// A request cannot be built from its values. Nothing is sent.
struct BuildingMistakeTests {
  private struct GetUser: APIRequest { let path: Path = "/users/7" }

  @Test func `The base URL is empty`() async {
    // The mistake:
    let client = APIClient(baseURL: "")
    // What Errand says:
    await MistakeClient(client).says(
      .invalidURL, to: GetUser(),
      """
      The client has no base URL; set one, or give an absolute URL as path.
      """)
  }

  @Test func `The base URL has no scheme`() async {
    // The mistake:
    let client = APIClient(baseURL: "api.example.com")
    // What Errand says:
    await MistakeClient(client).says(
      .invalidURL, to: GetUser(),
      """
      "api.example.com" is not an absolute http or https URL; write it like https://host/path.
      """)
  }

  @Test func `The base URL begins with a space`() async {
    // The mistake:
    let client = APIClient(baseURL: " https://api.example.com")
    // What Errand says:
    await MistakeClient(client).says(
      .invalidURL, to: GetUser(),
      """
      " https://api.example.com" begins with a space or a line break; remove it.
      """)
  }

  @Test func `The base URL contains a password`() async {
    // The mistake:
    let client = APIClient(baseURL: "https://ada:secret@api.example.com")
    // What Errand says:
    await MistakeClient(client).says(
      .invalidURL, to: GetUser(),
      """
      "https://•••@api.example.com" contains a user name or password; remove it and use a basic credential.
      """)
  }

  @Test func `The path begins with a variable that is a whole URL`() async {
    // The mistake:
    struct GetPicture: APIRequest {
      let link: String
      var path: Path { "\(link)" }
    }
    let request = GetPicture(link: "https://cdn.example.com/7.png")
    // What Errand says:
    await MistakeClient().says(
      .invalidPath, to: request,
      """
      The path begins with a variable that is a whole URL, "https://cdn.example.com/7.png"; pass the URL as \
      `RequestPath(text)`, which is used as written.
      """)
  }

  @Test func `A variable of the path climbs to the parent folder`() async {
    // The mistake:
    struct GetFile: APIRequest {
      let name: String
      var path: Path { "/files/\(name)/content" }
    }
    let request = GetFile(name: "..")
    // What Errand says:
    await MistakeClient().says(
      .invalidPath, to: request,
      """
      A variable makes ".." a segment of "/files/../content", which would change the path; check the value of the \
      variable.
      """)
  }

  @Test func `A variable of the path is empty`() async {
    // The mistake:
    struct DeleteUser: APIRequest {
      let id: String
      let method = HTTPMethod.delete
      var path: Path { "/users/\(id)" }
    }
    let request = DeleteUser(id: "")
    // What Errand says:
    await MistakeClient().says(
      .invalidPath, to: request,
      """
      A variable that is a whole segment of "/users/" is empty, which would change the path; check the value of the \
      variable.
      """)
  }

  @Test func `The method contains a space`() async {
    // The mistake:
    struct ListUsers: APIRequest {
      let path: Path = "/users"
      let method = HTTPMethod("GET ")
    }
    // What Errand says:
    await MistakeClient().says(
      .invalidMethod, to: ListUsers(),
      """
      The method "GET " is not a token; use a word such as GET, without spaces.
      """)
  }

  @Test func `A token was read from a file with its line break`() async {
    // The mistake:
    struct GetSecrets: APIRequest {
      let path: Path = "/secrets"
      let token: String
      var headers: RequestHeaders { ["X-Token": "\(token)"] }
    }
    let request = GetSecrets(token: "abc\n")
    // What Errand says:
    await MistakeClient().says(
      .invalidHeader, to: request,
      """
      The value of the field X-Token holds a control character such as a line break; remove it.
      """)
  }

  @Test func `The token of a bearer credential has the word Bearer`() async {
    // The mistake:
    struct GetAccount: APIRequest {
      let path: Path = "/account"
      let token: String
      var credential: RequestCredential { .bearer(token) }
    }
    let request = GetAccount(token: "Bearer abc")
    // What Errand says:
    await MistakeClient().says(
      .invalidHeader, to: request,
      """
      The token of the bearer credential begins with the word "Bearer", which the client adds itself; remove the word.
      """)
  }

  @Test func `The token of a bearer credential is empty`() async {
    // The mistake:
    struct GetAccount: APIRequest {
      let path: Path = "/account"
      let token: String?
      var credential: RequestCredential { .bearer(token ?? "") }
    }
    let request = GetAccount(token: nil)
    // What Errand says:
    await MistakeClient().says(
      .invalidHeader, to: request,
      """
      The token of the bearer credential is empty; use no credential if there is no token.
      """)
  }

  @Test func `The request sets its Content-Length`() async {
    // The mistake:
    struct SendNote: APIRequest {
      let path: Path = "/notes"
      let method: HTTPMethod = .post
      let headers: RequestHeaders = ["Content-Length": "5"]
    }
    // What Errand says:
    await MistakeClient().says(
      .invalidHeader, to: SendNote(),
      """
      The field Content-Length describes how the message is sent, and only the transport may set it; remove the \
      field.
      """)
  }

  @Test func `A HEAD request has a body`() async {
    // The mistake:
    struct AskForSize: APIRequest {
      let path: Path = "/film.mp4"
      let method: HTTPMethod = .head
      let body: RequestBody? = .text("please")
    }
    // What Errand says:
    await MistakeClient().says(
      .invalidBody, to: AskForSize(),
      """
      A HEAD request carries no body; remove the body or use another method.
      """)
  }

  @Test func `An argument is not a number`() async {
    // The mistake:
    struct SearchNearby: APIRequest {
      let path: Path = "/search"
      let distance: Double
      var arguments: Arguments { ["distance": distance] }
    }
    let request = SearchNearby(distance: .nan)
    // What Errand says:
    await MistakeClient().says(
      .invalidArgument, to: request,
      """
      The argument "distance" cannot be sent: the value is not a finite number; pass a finite value.
      """)
  }

  @Test func `A JSON body contains a number that JSON cannot write`() async {
    // The mistake:
    struct Person: Encodable, Sendable { let height: Double }
    struct SavePerson: APIRequest {
      let path: Path = "/people"
      let method: HTTPMethod = .post
      let person: Person
      var body: RequestBody? { .json(person) }
    }
    let request = SavePerson(person: Person(height: .infinity))
    // What Errand says:
    await MistakeClient().says(
      .invalidBody, to: request,
      """
      The body could not be encoded as JSON: $.height: Unable to encode Double.inf directly in JSON.
      """)
  }

  @Test func `The type of a text names another charset than UTF-8`() async {
    // The mistake:
    struct SaveNote: APIRequest {
      let path: Path = "/notes"
      let method: HTTPMethod = .post
      let note: String
      var body: RequestBody? { .text(note, type: "text/plain; charset=gbk") }
    }
    let request = SaveNote(note: "茶")
    // What Errand says:
    await MistakeClient().says(
      .invalidHeader, to: request,
      """
      The field Content-Type names the charset "gbk", but the text of the body is sent in UTF-8; name utf-8, or send \
      the bytes of the text in that charset with `RequestBody.bytes`.
      """)
  }

  @Test func `A list of lists is joined with commas`() async {
    // The mistake:
    struct Filter: APIRequest {
      let path: Path = "/filter"
      let formats = Formats(argumentStyle: ArgumentStyle(arrays: .commas))
      let arguments: Arguments = ["pairs": [[1, 2], [3, 4]]]
    }
    // What Errand says:
    await MistakeClient().says(
      .invalidArgument, to: Filter(),
      """
      The argument "pairs" cannot be sent: the list contains lists or objects, which commas cannot join; choose \
      another `ArgumentStyle.arrays`.
      """)
  }

  @Test func `The transport is not registered`() async {
    // The mistake:
    let client = APIClient(baseURL: "https://api.example.com")
    client.configure { $0.transport = .named("netty") }
    // What Errand says:
    await MistakeClient(client).says(
      .unsupported, to: GetUser(),
      """
      No transport is registered as "netty"; the registered names are: curl, engine.
      """)
  }
}
