/// A station that many calls need not stop at. The line passes it over for those: they neither wait for it nor hold room
/// for it.
package protocol SelectiveStation: Interceptor {
  /// Whether the station has something to do for a request that comes to it.
  func concerns(_ request: HTTPRequest, _ context: CallContext) -> Bool
}
