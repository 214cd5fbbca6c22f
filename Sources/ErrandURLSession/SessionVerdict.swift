/// What the platform says of a server's certificate.
enum SessionVerdict: Sendable, Equatable {
  case trusted
  /// The number of the Security framework (OSStatus), and its words.
  case refused(code: Int, words: String)
}
