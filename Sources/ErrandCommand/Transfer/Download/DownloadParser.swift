import Errand
import ErrandChecksum
import ErrandCore
import Foundation

struct DownloadParser {
  private static let flags: Set<String> = [
    "-c", "--continue", "--fresh", "-J", "--server-name", "-n", "--no-replace", "--replace", "--wait", "-v",
    "--verbose", "-q", "--quiet", "--no-proxy",
  ]
  private static let valued: Set<String> = [
    "-o", "--output", "-d", "--dir", "--sha256", "--sha512", "--parallel", "--files", "--limit-rate", "--refresh",
    "--resource", "-H", "--header", "--user", "--bearer", "--timeout",
  ]

  private var options = DownloadOptions()

  static func parse(_ words: [String]) throws(UsageError) -> DownloadOptions {
    var parser = DownloadParser()
    var reader = WordReader(words, flags: flags, valued: valued)
    while let item = try reader.next() {
      switch item {
      case .flag(let name): parser.take(name)
      case .option(let name, let value): try parser.take(value, of: name)
      case .argument(let url): parser.options.urls.append(try RequestNotation.url(url))
      }
    }
    try check(parser.options)
    return parser.options
  }

  private mutating func take(_ name: String) {
    switch name {
    case "-c", "--continue": options.continues = true
    case "--fresh": options.startsOver = true
    case "-J", "--server-name": options.takesServerName = true
    case "-n", "--no-replace": options.replacesByChoice = false
    case "--replace": options.replacesByChoice = true
    case "--wait": options.waits = true
    case "-v", "--verbose": options.isVerbose = true
    case "-q", "--quiet": options.isQuiet = true
    default: options.usesProxy = false
    }
  }

  private mutating func take(_ value: String, of name: String) throws(UsageError) {
    switch name {
    case "-o", "--output": options.output = try Self.path(value, name)
    case "-d", "--dir": options.folder = try Self.path(value, name)
    case "--sha256": try checksum(value, .sha256, name)
    case "--sha512": try checksum(value, .sha512, name)
    case "--limit-rate": options.bytesPerSecond = try RateNotation.bytesPerSecond(value, of: name)
    case "--parallel": options.parallel = try Self.count(value, name)
    case "--files": options.width = try Self.count(value, name)
    case "--refresh": options.refresh = try FreshLink(value, of: name)
    case "--resource": options.resource = try Self.nonEmpty(value, name)
    case "--timeout": options.timeout = try RequestNotation.timeout(value)
    case "--user": try options.credential.take(try RequestNotation.basic(value))
    case "--bearer": try options.credential.take(try RequestNotation.bearer(value))
    default: options.fields.append(try RequestNotation.field(value))
    }
  }

  private static func nonEmpty(_ value: String, _ name: String) throws(UsageError) -> String {
    guard !value.isEmpty else { throw UsageError("\(name) needs a value that is not empty") }
    return value
  }

  private static func path(_ value: String, _ name: String) throws(UsageError) -> String {
    guard value != "-" else { throw UsageError("a download needs a file; “errand send URL” writes to a pipe") }
    return try nonEmpty(value, name)
  }

  private static func count(_ value: String, _ name: String) throws(UsageError) -> Int {
    guard let count = Int(value), (1...16).contains(count) else {
      throw UsageError("\(name) needs a number from 1 to 16, not “\(value)”")
    }
    return count
  }

  private mutating func checksum(_ text: String, _ algorithm: DigestAlgorithm, _ name: String) throws(UsageError) {
    let checksum: Checksum
    do throws(APIError) {
      checksum = try Checksum(algorithm, text)
    } catch {
      throw UsageError("\(name): \(error.message)")
    }
    guard options.checksum == nil else { throw UsageError("use only one checksum: --sha256 or --sha512") }
    options.checksum = checksum
  }

  /// Rejects options that cannot be used together.
  private static func check(_ options: DownloadOptions) throws(UsageError) {
    if options.urls.isEmpty, !options.continues {
      throw UsageError("a URL is missing; it is optional only with -c, which resumes the downloads in the folder")
    }
    if options.output != nil, options.folder != nil { throw UsageError("use either -o for a file or -d for a folder") }
    if options.continues, options.startsOver { throw UsageError("-c resumes and --fresh starts over; use only one") }
    if options.output != nil, options.takesServerName {
      throw UsageError("-o and -J both name the file; use only one")
    }
    if options.urls.isEmpty, options.refresh != nil || options.resource != nil {
      throw UsageError("--refresh and --resource need a URL")
    }
    guard options.urls.count > 1 else { return }
    if options.output != nil { throw UsageError("-o is for one URL; use -d for several URLs") }
    if options.checksum != nil { throw UsageError("a checksum is for one URL; download the other URLs separately") }
    if options.resource != nil { throw UsageError("--resource is for one URL; download the other URLs separately") }
  }
}

/// Parses rates such as 500k, 2M and 1.5G. A number without a unit is in bytes per second.
enum RateNotation {
  private static let units: [Character: Double] = [
    "k": 1_024, "K": 1_024, "m": 1_048_576, "M": 1_048_576, "g": 1_073_741_824, "G": 1_073_741_824,
  ]
  private static let most: Double = 1_099_511_627_776

  /// Parses a rate. The result is in bytes per second, and is at least 1.
  static func bytesPerSecond(_ text: String, of option: String) throws(UsageError) -> Int64 {
    guard let number = RequestNotation.number(text, units: units), number <= most,
      let rate = Int64(exactly: number.rounded(.down)), rate > 0
    else { throw UsageError("\(option) needs a rate such as 500k, 2M or 1.5G bytes a second, not “\(text)”") }
    return rate
  }
}

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
  /// Whether to replace an existing file. Nil if neither `--replace` nor `--no-replace` is given; then the default of
  /// `Download.replaces` applies.
  var replacesByChoice: Bool?
  /// Whether to wait while another download of the same file is running. If false, this download fails.
  var waits = false
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

extension DownloadOptions {
  /// Whether the requests have a credential, or a field with a secret name.
  var hasCredential: Bool {
    credential != .none || fields.contains { $0.value != nil && Secrets.isSecret($0.name) }
  }
}

extension HelpText {
  static let download = #"""
    usage: errand download URL … [-o FILE | -d DIR] [option …]
           errand download -c [-o FILE | -d DIR] [option …]

    Downloads files. Received bytes are collected in FILE.part, and FILE is replaced in one step when
    all bytes are received and verified. The next run resumes an interrupted download if the server
    still has the same version; two versions are never mixed. Progress goes to standard error: a bar for
    each file on a terminal, lines in a pipe.

      URL                 the default scheme is https://, for this machine http://

    where the file goes
      -o FILE             this file, for one URL
      -d DIR              this folder, created if it is missing; by default the current folder
      -J, --server-name   use the server's file name, made safe; by default the URL's
      -n, --no-replace    keep an existing file, and fail; this is the default with -J
      --replace           replace an existing file, also with -J

    resuming
      -c, --continue      continue an earlier run: an existing file counts as complete (with a checksum,
                          only if it matches; with -J it is fetched again, because its name is not known
                          before). Without a URL: all interrupted downloads in DIR, each with its
                          original name, -n and permissions
      --fresh             discard the bytes that an earlier run received
      --refresh WHAT      if a URL has expired (401, 403, 404, 410), get another one, and again only if
                          bytes have arrived since: the first line that the shell command WHAT prints,
                          which gets the old URL in ERRAND_URL, or, if WHAT is a URL, the first line of
                          its response
      --resource NAME     a name for the file, if its URL changes each time, such as a signed one

    verification
      --sha256 SUM        hexadecimal or base64; a file with another checksum is deleted
      --sha512 SUM        as --sha256. The server's Repr-Digest and Content-Digest are always verified

    speed and time
      --parallel N        request up to N ranges of a file in parallel, if that is safe
      --files N           download up to N files in parallel; by default 4
      --limit-rate RATE   at most this many bytes a second, for all files together: 500k, 2M, 1.5G
      --timeout SECONDS   the limit for each file; by default none. Connecting is always limited to
                          10 s, and idle time to 60 s

    and more
      -H 'Name: value'    a header field; may be repeated; 'Name:' omits a field
      --user NAME:PASS    basic credentials
      --bearer TOKEN      a bearer token
                          For both, @FILE reads the first line of a file, because other users of this
                          machine can see the arguments of a command
      --wait              wait while another download uses the file; by default this download fails
      -q                  print only errors
      -v                  print what is sent and received, with masked secrets
      --no-proxy          use no proxy, and ignore http_proxy, https_proxy, all_proxy and no_proxy
      --                  everything after it is an argument, not an option

    examples
      errand download https://example.com/big.iso --sha256 9f86d081884c7d65…
      errand download https://example.com/a.zip https://example.com/b.zip -d ~/Downloads
      errand download -c -d ~/Downloads
      errand download "$(sign film)" --resource film -o film.mp4 --refresh 'sign film'

    exit status; for several files, that of the first failure
      0  all files are complete                         56  the connection broke or delivered bad data
      1  any other failure                              60  TLS failed, or the server is not trusted
      6  the host name could not be resolved            64  wrong arguments, or an invalid request
      7  the server is unreachable                      65  the checksum is wrong; the file was deleted
     22  the status is not 2xx                          66  -c without a URL, and nothing to resume
     23  the disk is full, or the file cannot be        73  -n, and the file exists
         written                                        75  another download uses the file; see --wait
     28  time-out                                      130  interrupted; the received bytes are kept
     33  the file changed on the server, or the
         response has another range than requested

    After 6, 7, 23, 28, 56 and 130 the same command without --fresh resumes the download. With -c it
    also skips complete files.

    """#
}
