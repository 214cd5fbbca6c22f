import Errand

/// The parsed arguments of `errand download`.
struct DownloadOptions: Sendable {
  /// The URLs to download; if empty, interrupted downloads are resumed.
  var urls: [String] = []
  /// The file to write; nil for a name in the folder.
  var output: String?
  /// The folder to write to; nil for the current folder.
  var folder: String?
  /// Whether to continue an earlier run. Complete files are not fetched again.
  var continues = false
  /// Whether to discard the partial file of an earlier run.
  var startsOver = false
  /// Whether the server may choose the file name.
  var takesServerName = false
  /// Whether to replace an existing file; nil if no option chooses.
  var replacesByChoice: Bool?
  /// Whether to replace an existing file. The default is true, except if the server chooses the name: a server must not
  /// choose which file is lost.
  var replaces: Bool { replacesByChoice ?? !takesServerName }
  /// Whether to wait for another download of the same file.
  var waits = false
  /// The required checksum.
  var checksum: Checksum?
  /// The number of ranges of one file that are fetched in parallel.
  var parallel = 1
  /// The number of files that are fetched in parallel.
  var width = 4
  /// The maximum rate of all files together, in bytes per second.
  var bytesPerSecond: Int64?
  /// The source of another URL if the server rejects the first URL.
  var refresh: FreshLink?
  /// The name that identifies the file if its URL changes each time.
  var resource: String?
  var fields: [SendOptions.Field] = []
  var credential = RequestCredential.none
  var timeout: Duration?
  var isVerbose = false
  var isQuiet = false
  var usesProxy = true
}
