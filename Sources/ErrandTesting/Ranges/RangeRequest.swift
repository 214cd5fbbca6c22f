/// One request as a ``RangeServer`` answered it.
package struct RangeRequest: Sendable, Equatable {
  /// The place among the requests that reached the file, from 1; nil for one that was redirected or had a signature
  /// that no longer held.
  package let number: Int?
  /// The path.
  package let path: String
  /// The method.
  package let method: String
  /// What it asked for.
  package let range: String?
  /// On which condition.
  package let ifRange: String?
  /// Which codings it took.
  package let acceptEncoding: String?
  /// The status it was answered with; 0 where the connection was closed instead.
  package let status: Int
  /// Where in the file the content of the answer began and was to end; nil without content of the file.
  package let piece: Range<Int>?

  init(_ request: RecordedRequest, number: Int?, status: Int, piece: Range<Int>?) {
    self.number = number
    path = request.path
    method = request.method
    range = request.headers["Range"]
    ifRange = request.headers["If-Range"]
    acceptEncoding = request.headers["Accept-Encoding"]
    self.status = status
    self.piece = piece
  }
}
