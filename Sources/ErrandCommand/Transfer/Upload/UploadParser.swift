import Errand
import Foundation

struct UploadParser {
  private static let flags: Set<String> = [
    "--multipart", "--gzip", "--expect", "-v", "--verbose", "-q", "--quiet", "--no-proxy",
  ]
  private static let valued: Set<String> = [
    "--field", "--name", "--type", "-X", "--method", "-H", "--header", "--user", "--bearer", "--timeout",
  ]

  private var options = UploadOptions()

  static func parse(_ words: [String]) throws(UsageError) -> UploadOptions {
    var parser = UploadParser()
    var reader = WordReader(words, flags: flags, valued: valued)
    var arguments: [String] = []
    while let item = try reader.next() {
      switch item {
      case .flag(let name): parser.take(name)
      case .option(let name, let value): try parser.take(value, of: name)
      case .argument(let argument): arguments.append(argument)
      }
    }
    try parser.assign(arguments)
    return parser.options
  }

  private mutating func take(_ name: String) {
    switch name {
    case "--multipart": options.isForm = true
    case "--gzip": options.isCompressed = true
    case "--expect": options.asksFirst = true
    case "-v", "--verbose": options.isVerbose = true
    case "-q", "--quiet": options.isQuiet = true
    default: options.usesProxy = false
    }
  }

  private mutating func take(_ value: String, of name: String) throws(UsageError) {
    switch name {
    case "--field":
      options.items.append(try RequestNotation.item(value))
      options.isForm = true
    case "--name": options.partName = value
    case "--type": options.type = value
    case "-X", "--method": options.method = value
    case "--timeout": options.timeout = try RequestNotation.timeout(value)
    case "--user": try options.credential.take(try RequestNotation.basic(value))
    case "--bearer": try options.credential.take(try RequestNotation.bearer(value))
    default: options.fields.append(try RequestNotation.field(value))
    }
  }

  /// Assigns the arguments that are not options: first the files, then the URL.
  private mutating func assign(_ arguments: [String]) throws(UsageError) {
    guard arguments.count > 1, let url = arguments.last else {
      throw UsageError(
        arguments.isEmpty ? "a file and a URL are missing" : "a file and a URL are needed, in this order")
    }
    options.files = arguments.dropLast()
    guard !options.files.contains(where: \.isEmpty) else {
      throw UsageError("a file name is empty; write the path of a file")
    }
    if options.files.count > 1, !options.isForm {
      throw UsageError("several files need --multipart, which sends them as one form")
    }
    if options.partName != nil, !options.isForm { throw UsageError("--name is for forms; use it with --multipart") }
    options.url = try RequestNotation.url(url)
    if !options.isForm { options.url = Self.named(options.url, options.name) }
  }

  /// Appends the file's name to a URL that ends in a slash.
  private static func named(_ url: String, _ name: String) -> String {
    let path = url.prefix { $0 != "?" && $0 != "#" }
    guard path.hasSuffix("/") else { return url }
    let letters = CharacterSet(charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
    return path + (name.addingPercentEncoding(withAllowedCharacters: letters) ?? "") + url[path.endIndex...]
  }
}

struct UploadOptions: Sendable {
  /// The paths of the files to send. Only a form may have more than one file.
  var files: [String] = []
  var url = ""
  /// The method; nil for the default: PUT, or POST for a form.
  var method: String?
  /// Whether the files are sent as parts of a multipart form.
  var isForm = false
  /// The fields of the form that precede the files.
  var items: [SendOptions.Item] = []
  /// The field name of the parts with files; nil for the default: file.
  var partName: String?
  /// The media type of the files; nil to derive it from the extension of each file name.
  var type: String?
  var isCompressed = false
  /// Whether the server may reject the request before the body is sent (`Expect: 100-continue`).
  var asksFirst = false
  var fields: [SendOptions.Field] = []
  var credential = RequestCredential.none
  var timeout: Duration?
  var isVerbose = false
  var isQuiet = false
  var usesProxy = true

  var fileURLs: [URL] { files.map { URL(filePath: $0, directoryHint: .notDirectory) } }

  /// The name under which the progress of the upload is displayed.
  var name: String {
    guard let first = fileURLs.first else { return url }
    return fileURLs.count == 1 ? first.lastPathComponent : "\(fileURLs.count) files"
  }
}

extension HelpText {
  static let upload = #"""
    usage: errand upload FILE … URL [option …]

    Sends files of any size, which are read while they are sent, and prints the response body. Progress
    goes to standard error: a bar on a terminal, lines in a pipe.

      FILE                the file. A single file is the whole body, and is sent by PUT
      URL                 the default scheme is https://, for this machine http://. If it ends in /, the
                          file's name is appended, except for a form

    as a form (POST, multipart/form-data)
      --multipart         send the files as parts of a form, as a browser does
      --field name=value  a field that precedes the files; name:=json is a part in JSON
      --name NAME         the field name of the files; by default “file”

    how it is sent
      -X, --method WORD   another method
      --type TYPE         the media type; by default it is derived from the extension
      --gzip              compress the body (Content-Encoding: gzip); few servers accept it
      --expect            ask the server before the body is sent (Expect: 100-continue)
      --timeout SECONDS   the limit for the whole call; by default none. Connecting is always limited to
                          10 s, and idle time to 60 s
      -H 'Name: value'    a header field; may be repeated; 'Name:' omits a field
      --user NAME:PASS    basic credentials
      --bearer TOKEN      a bearer token
                          For both, @FILE reads the first line of a file, because other users of this
                          machine can see the arguments of a command

    and more
      -q                  print only errors
      -v                  print what is sent and received, with masked secrets
      --no-proxy          use no proxy, and ignore http_proxy, https_proxy, all_proxy and no_proxy
      --                  everything after it is an argument, not an option

    examples
      errand upload film.mp4 https://example.com/films/ --bearer "$TOKEN"
      errand upload cat.jpg https://example.com/photos --field title='A cat' --name image

    exit status
      0  the server accepted the upload                 56  the connection broke or delivered bad data
      1  any other failure                              60  TLS failed, or the server is not trusted
      6  the host name could not be resolved            64  wrong arguments, or an invalid request
      7  the server is unreachable                      66  a file is missing or cannot be read
     22  the status is not 2xx; the body is printed    130  interrupted
     28  time-out
     33  the file changed while it was sent

    """#
}
