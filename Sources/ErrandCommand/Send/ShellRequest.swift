import Errand
import Foundation

/// The request of `errand send`, as the options describe it.
struct ShellRequest: APIRequest {
  let options: SendOptions

  var path: Path { Path(options.url) }
  var method: HTTPMethod { options.sentMethod }
  var arguments: Arguments { Arguments(options.items.map { ($0.name, Self.argument($0.value)) }) }
  var argumentFormat: ArgumentFormat { options.format ?? .byMethod }
  var credential: RequestCredential { options.credential }
  var timeouts: Timeouts { options.timeout.map { Timeouts(total: .after($0)) } ?? .inherited }
  var redirects: RedirectPolicy { options.followsRedirects ? .follow() : .manual }
  var statusRule: StatusRule { options.followsRedirects ? .success : .success.or(.range(300...399)) }
  var shape: JSONShape? { options.shape }
  var cache: CachePolicy {
    guard options.cacheFolder != nil else { return .none }
    return options.lifetime.map { .lifetime($0) } ?? .http
  }
  typealias Response = Data

  var headers: RequestHeaders {
    var headers = RequestHeaders()
    if options.shape != nil || options.format == .json { headers.set(.accept, "application/json, */*;q=0.5") }
    headers.merge(options.fields)
    return headers
  }

  private static func argument(_ value: JSONValue) -> ArgumentValue {
    switch value.content {
    case .null: .null
    case .bool(let value): .bool(value)
    case .integer(let value): .integer(value)
    case .unsigned(let value): .unsigned(value)
    case .number(let value): .number(value)
    case .string(let value): .string(value)
    case .array(let elements): .array(elements.map(argument))
    case .object(let members):
      .object(Arguments(members.sorted { $0.key < $1.key }.map { ($0.key, argument($0.value)) }))
    }
  }
}
