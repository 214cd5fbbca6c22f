import ErrandGenerate

struct GenerateArguments: Equatable {
  var document = ""
  var folder = ""
  var isCheck = false
  /// The host of a recording; nil for the host with most exchanges.
  var host: String?
  var options = GenerateOptions()

  init(_ words: [String]) throws(UsageError) {
    let valued: Set = ["--into", "--tag", "--path", "--access", "--name", "--host"]
    var reader = WordReader(words, flags: ["--check"], valued: valued)
    while let item = try reader.next() {
      switch item {
      case .flag: isCheck = true
      case .option(let name, let value): try set(name, value)
      case .argument(let word):
        guard document.isEmpty else { throw UsageError("“\(word)” is one argument too many; give one document") }
        document = word
      }
    }
    guard !document.isEmpty else {
      throw UsageError("the document is missing; write it as in “errand generate openapi.json --into Sources/API”")
    }
    guard !folder.isEmpty else { throw UsageError("the folder is missing; add --into DIR") }
    guard host == nil || RecordingReader.isRecording(document) else {
      throw UsageError("--host chooses the host of a recording (.har or .flight), not of “\(document)”")
    }
  }

  private mutating func set(_ name: String, _ value: String) throws(UsageError) {
    guard !value.isEmpty else { throw UsageError("\(name) needs a value") }
    switch name {
    case "--into": folder = value
    case "--host": host = value
    case "--tag": options.tags.append(value)
    case "--path":
      guard value.utf8.first == UInt8(ascii: "/") || value.utf8.first == UInt8(ascii: "*") else {
        throw UsageError("--path needs a path such as '/users/*', not “\(value)”")
      }
      options.paths.append(value)
    case "--name":
      let isName = value.utf8.enumerated().allSatisfy { place, byte in
        (0x41...0x5A).contains(byte) || (place > 0 && ((0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte)))
      }
      guard isName else { throw UsageError("--name needs the name of a type such as PetStore, not “\(value)”") }
      options.name = value
    default:
      guard let access = GenerateOptions.Access(rawValue: value) else {
        throw UsageError("--access needs public, package or internal, not “\(value)”")
      }
      options.access = access
    }
  }
}

extension HelpText {
  static let generate = #"""
    usage: errand generate DOCUMENT --into DIR [option …]

    Writes Swift requests and models for Errand from an OpenAPI 3.0 or 3.1 document in JSON or YAML: one
    file for each operation, one for each schema that the operations use, and the settings that they
    share. The same document gives the same bytes. Parts that cannot be generated are reported with
    their JSON pointer, and the rest is generated. Such reports do not change the exit status.

      DOCUMENT            the document; files beside it are read if it refers to them. From a recording
                          (.har or .flight) a draft is written: it has the names and types of what was
                          sent, and no values
      --into DIR          the folder; it is created if it is missing

    what is generated
      --host NAME         the host of a recording; by default the one with most exchanges
      --tag WORD          only operations with this tag; may be repeated
      --path PATTERN      only operations with such a path, as in '/users/*'; may be repeated
      --access LEVEL      internal (the default), package or public
      --name NAME         the name of the API, as in PetStore; by default the title of the document

    how files are written
      Each generated file begins with a line that says so. A run replaces such files, and removes those
      that it wrote from the same document and that are no longer needed. It never replaces another
      file: if one is in the way, nothing is written.
      --check             write nothing, list what would change, and fail if there is anything

    examples
      errand generate openapi.json --into Sources/API --access public
      errand generate openapi.json --into Sources/API --tag users --check
      errand generate traffic.har --into Draft --host api.example.com

    exit status
      0  success                                        64  wrong arguments
      1  --check: files differ                          65  the document is not valid
     23  a file cannot be written                       66  the document cannot be read
                                                        73  a file that was not generated is in the way

    """#
}
