import ErrandCore

/// What is known of a background upload: the file `<id>.upload` in the folder of ``BackgroundUploads``. Once its answer
/// came, status, some fields and the origin stand in it, too.
///
/// ```
/// {"answerBytes":33554432,"format":1,"id":"5d0c…","isSecure":true,"phase":{"running":{}},
///  "source":{"length":52428800,"modified":{"nanoseconds":0,"seconds":1700000000},"number":4711,
///  "place":{"isBelowHome":true,"path":"Library/films/7.mp4"}},"statuses":[[200,299]],"tag":"film-7"}
/// ```
struct BackgroundUploadRecord: BackgroundRecord, Hashable {
  static let kind = BackgroundKind.upload
  static let currentFormat = 1

  private(set) var format = Self.currentFormat
  let id: String
  let tag: String?
  /// The file of the app's that is sent; nil where the library has written one.
  let source: BackgroundSource?
  /// The status codes that are taken, as pairs of first and last.
  let statuses: [[Int]]
  let contentTypes: [String]?
  /// Whether the answer must have come by https.
  let isSecure: Bool
  /// The most bytes of an answer.
  let answerBytes: Int
  var phase = BackgroundPhase.running

  var statusRule: StatusRule { StatusRule(recorded: statuses) }
}
