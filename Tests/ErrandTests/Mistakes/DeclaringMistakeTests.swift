import Errand
import ErrandTesting
import Foundation
import Testing

/// A property of a request has no effect, or not the effect that was meant.
struct DeclaringMistakeTests {
  @Test func `The method is a String`() async {
    // The mistake:
    struct CreateUser: APIRequest {
      let path: Path = "/users"
      var method = "POST"
    }
    // What Errand says:
    await MistakeClient().warns(
      about: CreateUser(),
      """
      CreateUser: the client ignores the property `method`, because its type is String; declare it as `HTTPMethod`, \
      or rename it if it is data of your own.
      """)
  }

  @Test func `The method is written in lower case`() async {
    // The mistake:
    struct RenameUser: APIRequest {
      let path: Path = "/users/7"
      let method: HTTPMethod = "patch"
    }
    // What Errand says:
    await MistakeClient().warns(
      about: RenameUser(),
      """
      RenameUser: the method "patch" is not PATCH, because methods are case-sensitive (RFC 9110 section 9.1); \
      declare it as `.patch`.
      """)
  }

  @Test func `A request with a body has no method`() async {
    // The mistake:
    struct AddUser: APIRequest {
      let path: Path = "/users"
      let body: RequestBody? = .json(["name": "Ada"])
    }
    // What Errand says:
    await MistakeClient().warns(
      about: AddUser(),
      """
      AddUser: the method is GET, and most servers ignore the body of a GET (RFC 9110 section 9.3.1); declare `method` \
      as `.post`, or as `.query` if the request only reads.
      """)
  }

  @Test func `The headers are a dictionary`() async {
    // The mistake:
    struct GetUser: APIRequest {
      let path: Path = "/users/7"
      let headers = ["X-App": "shop"]
    }
    // What Errand says:
    await MistakeClient().warns(
      about: GetUser(),
      """
      GetUser: the client ignores the property `headers`, because its type is [String: String]; declare it as \
      `RequestHeaders`, or rename it if it is data of your own.
      """)
  }

  @Test func `The arguments are a dictionary`() async {
    // The mistake:
    struct ListUsers: APIRequest {
      let path: Path = "/users"
      let arguments = ["page": 2]
    }
    // What Errand says:
    await MistakeClient().warns(
      about: ListUsers(),
      """
      ListUsers: the client ignores the property `arguments`, because its type is [String: Int]; declare it as \
      `Arguments`, or rename it if it is data of your own.
      """)
  }

  @Test func `The body is Data`() async {
    // The mistake:
    struct SendPhoto: APIRequest {
      let path: Path = "/photo"
      let method: HTTPMethod = .put
      let body = Data("GIF89a".utf8)
    }
    // What Errand says:
    await MistakeClient().warns(
      about: SendPhoto(),
      """
      SendPhoto: the client ignores the property `body`, because its type is Data; declare it as `RequestBody?`, or \
      rename it if it is data of your own.
      """)
  }

  @Test func `The time-out is a number`() async {
    // The mistake:
    struct GetReport: APIRequest {
      let path: Path = "/report"
      let timeouts = 5.0
    }
    // What Errand says:
    await MistakeClient().warns(
      about: GetReport(),
      """
      GetReport: the client ignores the property `timeouts`, because its type is Double; declare it as `Timeouts`, \
      or rename it if it is data of your own.
      """)
  }

  @Test func `An optional property has no written type`() async {
    // The mistake:
    struct GetPrices: APIRequest {
      let path: Path = "/prices"
      let family = RequestFamily("shop", headers: ["X-App": "shop"])
    }
    // What Errand says:
    await MistakeClient().warns(
      about: GetPrices(),
      """
      GetPrices: the client ignores the property `family`, because its type is RequestFamily; declare it as \
      `RequestFamily?`, or rename it if it is data of your own.
      """)
  }

  @Test func `The base URL is a property of the request`() async {
    // The mistake:
    struct GetOffers: APIRequest {
      let baseURL = "https://shop.example.com"
      let path: Path = "/offers"
    }
    // What Errand says:
    await MistakeClient().warns(
      about: GetOffers(),
      """
      GetOffers: the client ignores the property `baseURL` (String), because no setting has this name; use `server`, \
      a `family` with a base URL, or the base URL of the client.
      """)
  }

  @Test func `The parameters have the name of another library`() async {
    // The mistake:
    struct Search: APIRequest {
      let path: Path = "/search"
      let parameters = ["q": "shoes"]
    }
    // What Errand says:
    await MistakeClient().warns(
      about: Search(),
      """
      Search: the client ignores the property `parameters` ([String: String]), because no setting has this name; use \
      `arguments`.
      """)
  }

  @Test func `The method has the name of another library`() async {
    // The mistake:
    struct DeleteUser: APIRequest {
      let path: Path = "/users/7"
      let httpMethod = "DELETE"
    }
    // What Errand says:
    await MistakeClient().warns(
      about: DeleteUser(),
      """
      DeleteUser: the client ignores the property `httpMethod` (String), because no setting has this name; use \
      `method`.
      """)
  }

  @Test func `The time-out has the name of another library`() async {
    // The mistake:
    struct GetNews: APIRequest {
      let path: Path = "/news"
      let timeoutInterval = 30.0
    }
    // What Errand says:
    await MistakeClient().warns(
      about: GetNews(),
      """
      GetNews: the client ignores the property `timeoutInterval` (Double), because no setting has this name; use \
      `timeouts`, such as `Timeouts(total: .seconds(30))`.
      """)
  }

  @Test func `The life of a cached response has the name of another library`() async {
    // The mistake:
    struct GetWeather: APIRequest {
      let path: Path = "/weather"
      let cacheTimeInSeconds = 180
    }
    // What Errand says:
    await MistakeClient().warns(
      about: GetWeather(),
      """
      GetWeather: the client ignores the property `cacheTimeInSeconds` (Int), because no setting has this name; use \
      `cache`, such as `.lifetime(.seconds(180))`.
      """)
  }

  @Test func `The retries have another name`() async {
    // The mistake:
    struct GetForecast: APIRequest {
      let path: Path = "/forecast"
      let retry: RetryPolicy = .standard
    }
    // What Errand says:
    await MistakeClient().warns(
      about: GetForecast(),
      """
      GetForecast: the client ignores the property `retry` (RetryPolicy), because no setting has this name; use \
      `retries`.
      """)
  }

  @Test func `A form is labelled as JSON`() async {
    // The mistake:
    struct SaveUser: APIRequest {
      let path: Path = "/users/7"
      let method: HTTPMethod = .put
      let arguments: Arguments = ["name": "Ada"]
      let headers: RequestHeaders = ["Content-Type": "application/json"]
    }
    // What Errand says:
    await MistakeClient().warns(
      about: SaveUser(),
      """
      SaveUser: the field Content-Type is application/json, but the body is a form; if the server reads JSON, remove \
      the field, and declare `formats` as `.json` or the `body` as `.json(…)`.
      """)
  }

  @Test func `A POST declares retries`() async {
    // The mistake:
    struct Pay: APIRequest {
      let path: Path = "/payments"
      let method: HTTPMethod = .post
      let retries: RetryPolicy = .standard
    }
    // What Errand says:
    await MistakeClient().warns(
      about: Pay(),
      """
      Pay: `retries` applies only to failures before the request is sent, because POST is not idempotent (RFC 9110 \
      section 9.2.2); declare `idempotency` as `.keyed()` or `.assumed` if the server recognises repeated requests, \
      or as `.never` if this is intended.
      """)
  }
}
