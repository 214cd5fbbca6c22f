/// A cookie as an object, what is not said left out; `expires` in milliseconds since 1970:
///
/// ```
/// {"name":"sid","value":"…","domain":"example.com","path":"/","hostOnly":true,"secure":true,"httpOnly":false}
/// ```
extension Cookie: Codable {
  private enum Key: String, CodingKey {
    case name, value, domain, path, hostOnly, secure, httpOnly, sameSite, expires
  }

  /// Writes the cookie, its value in clear.
  public func encode(to encoder: any Encoder) throws {
    var members = encoder.container(keyedBy: Key.self)
    try members.encode(name, forKey: .name)
    try members.encode(value, forKey: .value)
    try members.encode(domain, forKey: .domain)
    try members.encode(path, forKey: .path)
    try members.encode(isHostOnly, forKey: .hostOnly)
    try members.encode(isSecure, forKey: .secure)
    try members.encode(isHTTPOnly, forKey: .httpOnly)
    try members.encodeIfPresent(sameSite, forKey: .sameSite)
    try members.encodeIfPresent(expiry, forKey: .expires)
  }

  /// Reads a cookie, and checks it like one of the app's own.
  /// - Throws: `DecodingError`, or ``Invalid`` for a cookie that is unsafe to send.
  public init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: Key.self)
    self.init(
      unchecked: try members.decode(String.self, forKey: .name), try members.decode(String.self, forKey: .value),
      domain: try members.decode(String.self, forKey: .domain),
      isHostOnly: try members.decode(Bool.self, forKey: .hostOnly),
      path: try members.decode(String.self, forKey: .path), isSecure: try members.decode(Bool.self, forKey: .secure),
      isHTTPOnly: try members.decode(Bool.self, forKey: .httpOnly),
      sameSite: try members.decodeIfPresent(SameSite.self, forKey: .sameSite),
      expires: try members.decodeIfPresent(Int64.self, forKey: .expires))
    try check()
  }
}
