import Errand
import ErrandTesting
import Foundation
import Testing

/// The response type and the response differ.
struct ReadingMistakeTests {
  @Test func `The keys are written with underscores`() async {
    // The mistake:
    struct GetUser: APIRequest {
      struct Response: Decodable, Sendable { let userName: String }
      let path: Path = "/users/7"
    }
    let answer = #"{"user_name":"Ada"}"#
    // What Errand says:
    await MistakeClient(.json(answer)).says(
      .decoding, to: GetUser(),
      """
      The response could not be decoded as JSON: $.userName: the key "userName" is missing, in {"user_name":"Ada"}; \
      to read "user_name", set `jsonDecoding` of the `formats` to `.fast(keys: .convertFromSnakeCase)`.
      """)
  }

  @Test func `The values are inside an envelope`() async {
    // The mistake:
    struct GetUser: APIRequest {
      struct Response: Decodable, Sendable { let userName: String }
      let path: Path = "/users/7"
    }
    let answer = #"{"code":0,"data":{"userName":"Ada"}}"#
    // What Errand says:
    await MistakeClient(.json(answer)).says(
      .decoding, to: GetUser(),
      """
      The response could not be decoded as JSON: $.userName: the key "userName" is missing, in \
      {"code":0,"data":{"userName":"Ada"}}; the key is inside "data": set `envelope` of the `validation` to \
      `Envelope(value: "data")`.
      """)
  }

  @Test func `The list is inside an object`() async {
    // The mistake:
    struct ListUsers: APIRequest {
      struct User: Decodable, Sendable { let userName: String }
      typealias Response = [User]
      let path: Path = "/users"
    }
    let answer = #"{"total":1,"items":[{"userName":"Ada"}]}"#
    // What Errand says:
    await MistakeClient(.json(answer)).says(
      .decoding, to: ListUsers(),
      """
      The response could not be decoded as JSON: $: expected an array, found an object, in \
      {"items":[{"userName":"Ada"}],"total":1}; the array is inside "items": set `envelope` of the `validation` to \
      `Envelope(value: "items")`.
      """)
  }

  @Test func `A date is a text`() async {
    // The mistake:
    struct GetPost: APIRequest {
      struct Response: Decodable, Sendable { let since: Date }
      let path: Path = "/posts/7"
    }
    let answer = #"{"since":"2026-11-27T16:00:00Z"}"#
    // What Errand says:
    await MistakeClient(.json(answer)).says(
      .decoding, to: GetPost(),
      """
      The response could not be decoded as JSON: $.since: expected a number, found a string, in \
      {"since":"2026-11-27T16:00:00Z"}; to read this date, set `jsonDecoding` of the `formats` to `.fast(dates: \
      .iso8601)`.
      """)
  }

  @Test func `A date counts from 1970`() async {
    // The mistake:
    struct GetPost: APIRequest {
      struct Response: Decodable, Sendable { let since: Date }
      let path: Path = "/posts/7"
    }
    let answer = #"{"since":1764259200}"#
    // What Errand says:
    await MistakeClient(.json(answer)).warns(
      about: GetPost(),
      """
      GetPost: the date $.since of the response is read as a date in the year 2056, because by default numbers count \
      seconds since 2001; if this server counts from 1970, set `jsonDecoding` of the `formats` to `.fast(dates: \
      .secondsSince1970)`.
      """)
  }

  @Test func `A number is sent as a text`() async {
    // The mistake:
    struct GetPrice: APIRequest {
      struct Response: Decodable, Sendable { let price: Double }
      let path: Path = "/prices/7"
    }
    let answer = #"{"price":"9.90"}"#
    // What Errand says:
    await MistakeClient(.json(answer)).says(
      .decoding, to: GetPrice(),
      """
      The response could not be decoded as JSON: $.price: expected a number, found a string, in {"price":"9.90"}.
      """)
  }

  @Test func `A value may be null`() async {
    // The mistake:
    struct GetUser: APIRequest {
      struct Response: Decodable, Sendable { let email: String }
      let path: Path = "/users/7"
    }
    let answer = #"{"email":null}"#
    // What Errand says:
    await MistakeClient(.json(answer)).says(
      .decoding, to: GetUser(),
      """
      The response could not be decoded as JSON: $.email: expected a string, found null, in {"email":null}; if this \
      value may be null, declare its type as an optional.
      """)
  }

  @Test func `The response is a login page`() async {
    // The mistake:
    struct GetUser: APIRequest {
      struct Response: Decodable, Sendable { let userName: String }
      let path: Path = "/users/7"
    }
    let answer = "<html><body>Please log in.</body></html>"
    // What Errand says:
    await MistakeClient(.text(answer)).says(
      .decoding, to: GetUser(),
      """
      The server answered 200 with an HTML page, but JSON was expected; check the URL, and whether a login page or a \
      proxy answered. The page begins with <html><body>Please log in.</body></html>.
      """)
  }

  @Test func `The response is empty`() async {
    // The mistake:
    struct DeleteUser: APIRequest {
      struct Response: Decodable, Sendable { let userName: String }
      let path: Path = "/users/7"
      let method: HTTPMethod = .delete
    }
    let answer = ScriptedAnswer.status(204)
    // What Errand says:
    await MistakeClient(answer).says(
      .decoding, to: DeleteUser(),
      """
      The response could not be decoded as JSON: the text is empty where JSON was expected; if an empty body is \
      expected, use `Nothing` as the response type.
      """)
  }

  @Test func `The type of error bodies does not fit`() async {
    // The mistake:
    struct Problem: Decodable, Sendable { let message: String }
    struct GetUser: APIRequest {
      typealias ErrorBody = Problem
      let path: Path = "/users/7"
    }
    let answer = #"{"error":"No such user."}"#
    // What Errand says:
    await MistakeClient(.json(answer, status: 404)).says(
      .status, to: GetUser(),
      """
      The server answered 404; expected 200–299. `body(as: Problem.self)` is nil, because the body does not fit the \
      `ErrorBody` of the request: $.message: the key "message" is missing, in {"error":"No such user."}.
      """)
  }

  @Test func `A picture is requested from a client with an envelope`() async {
    // The mistake:
    struct GetPicture: APIRequest {
      typealias Response = Data
      let path: Path = "/pictures/7"
    }
    let answer = ScriptedAnswer.data(Data("GIF89a".utf8), contentType: "image/gif")
    let client = MistakeClient(answer) { $0.validation.envelope = Envelope(code: "code", success: [0]) }
    // What Errand says:
    await client.says(
      .notJSON, to: GetPicture(),
      """
      JSON was expected, but the text is not JSON: expected a value at line 1, column 1. The `Envelope` of the call \
      requires a code in the body; if the response has no code, declare `validation` as `ResponseValidation(envelope: .none)`.
      """)
  }

  @Test func `The response does not have the declared shape`() async {
    // The mistake:
    struct ListItems: APIRequest {
      typealias Response = Data
      let path: Path = "/items"
      let validation = ResponseValidation(shape: ["items": [["level": .number]]])
    }
    let answer = #"{"items":[{"level":"high"}]}"#
    // What Errand says:
    await MistakeClient(.json(answer)).says(
      .shape, to: ListItems(),
      """
      The JSON does not have the declared shape: $.items[0].level: expected a number, found the string "high".
      """)
  }
}
