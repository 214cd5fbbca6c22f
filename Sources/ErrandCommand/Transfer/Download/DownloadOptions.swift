import Errand

/// The parsed arguments of `errand download`.
struct DownloadOptions: Sendable {
  /// The URLs to download; if empty, interrupted downloads are resumed.
  var urls: [String] = []
  /// The file to write; nil to write into the folder, under a name from the URL or the server.
  var output: String?
  /// The folder to write to; nil for the current folder.
  var folder: String?
  /// Whether to continue an earlier run (`-c`). Complete files are not fetched again.
  var continues = false
  /// Whether to discard the partial file of an earlier run.
  var startsOver = false
  /// Whether the server may choose the file name.
  var takesServerName = false
  /// Whether to replace an existing file; nil if neither `--replace` nor `--no-replace` is given.
  var replacesByChoice: Bool?
  /// Whether to replace an existing file. The default is true. If the server chooses the name, the default is false,
  /// because a server must not choose which existing file is lost.
  var replaces: Bool { replacesByChoice ?? !takesServerName }
  /// Whether to wait while another download of the same file is running. If false, this download fails.
  var waits = false
  /// The required checksum of the file; nil if none is required.
  var checksum: Checksum?
  /// The maximum number of ranges of one file that are fetched in parallel.
  var parallel = 1
  /// The maximum number of files that are fetched in parallel.
  var width = 4
  /// The maximum rate of all files together, in bytes per second; nil for no limit.
  var bytesPerSecond: Int64?
  /// The source of another URL for the case that the server rejects the first URL; nil for none.
  var refresh: FreshLink?
  /// The name that identifies the file if its URL changes each time; nil to identify the file by its URL.
  var resource: String?
  var fields: [SendOptions.Field] = []
  var credential = RequestCredential.none
  var timeout: Duration?
  var isVerbose = false
  var isQuiet = false
  var usesProxy = true
}
