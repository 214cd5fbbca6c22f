import Errand

/// What the words behind `errand download` ask for.
struct DownloadOptions: Sendable {
  /// What to fetch; none goes on with what lies there.
  var urls: [String] = []
  /// The file to write; nil for a name of its own in the folder.
  var output: String?
  /// The folder to write into; nil for the present one.
  var folder: String?
  /// Whether to go on where an earlier run stopped: what is whole stays.
  var continues = false
  /// Whether a part that is there is thrown away.
  var startsOver = false
  /// Whether the server may name the file.
  var takesServerName = false
  /// Whether a file that is there is replaced; nil if the words do not say.
  var replacesByChoice: Bool?
  /// Whether a file that is there is replaced. A server that names the file must not choose which one is lost.
  var replaces: Bool { replacesByChoice ?? !takesServerName }
  /// Whether to wait for another download of the same file.
  var waits = false
  /// What the file must hash to.
  var checksum: Checksum?
  /// How many ranges of a file are fetched side by side.
  var parallel = 1
  /// How many files are fetched side by side.
  var width = 4
  /// The most bytes in a second, of all files together.
  var bytesPerSecond: Int64?
  /// Where to get another URL from when the first is refused.
  var refresh: FreshLink?
  /// What the file is called where its URL is another one each time.
  var resource: String?
  var fields: [SendOptions.Field] = []
  var credential = RequestCredential.none
  var timeout: Duration?
  var isVerbose = false
  var isQuiet = false
  var usesProxy = true
}
