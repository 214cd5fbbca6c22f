import ErrandJSON

/// Whose rules a decoder reads JSON by.
enum JSONRules: Sendable {
  /// Those of the request or the client.
  case shared
  /// Its own.
  case own(JSONDecoding)
}

/// What the decoders that come with the library go by.
struct DecodingRules: Sendable {
  let json: JSONDecoding
  let envelope: Envelope?
  /// The format of answers whose request declares no decoder; nil for JSON.
  var format: (any ResponseFormat)?
}
