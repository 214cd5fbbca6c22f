import ErrandCore

/// The saved state of a background upload: the file `<id>.upload` in the folder of ``BackgroundUploads``. Once the
/// response has arrived, the record also contains the status, some fields and the origin of the response.
///
/// ```
/// {"answerBytes":33554432,"format":1,"id":"5d0c…","isSecure":true,"phase":{"running":{}},
///  "source":{"length":52428800,"modified":{"nanoseconds":0,"seconds":1700000000},"number":4711,
///  "place":{"isBelowHome":true,"path":"Library/films/7.mp4"}},"statuses":[[200,299]],"tag":"film-7"}
/// ```
struct BackgroundUploadState: BackgroundState, Hashable {
  static let kind = BackgroundKind.upload
  static let currentFormat = 1

  private(set) var format = Self.currentFormat
  let id: String
  let tag: String?
  /// The app's own file that the upload sends; nil if the library wrote the request body into a separate file.
  let source: BackgroundSource?
  /// The accepted status codes. Each inner array contains the first and the last code of a range.
  let statuses: [[Int]]
  let contentTypes: [String]?
  /// Whether the response to the upload must arrive over https.
  let isSecure: Bool
  /// The maximum length in bytes that the body of the response to the upload may have.
  let answerBytes: Int
  var phase = BackgroundPhase.running

  var statusRule: StatusRule { StatusRule(recorded: statuses) }
}
