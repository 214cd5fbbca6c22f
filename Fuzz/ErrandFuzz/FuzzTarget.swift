/// Parsers of responses, header fields, bodies, cache entries and partial downloads, each with the properties that hold beside "does not trap".
///
/// A new one needs a case here, a function in one of the files beside it, and a folder of that name in `Fuzz/Corpus`.
enum FuzzTarget: String, CaseIterable {
  // Responses, as the transports of Linux read them.
  case connection, http2
  case tlsRecords = "tls-records"
  case responseHead = "response-head"
  case statusLine = "status-line"
  case chunks
  case events
  case gzip, deflate, brotli, zstd
  case contentCoding = "content-coding"
  // Fields.
  case contentRange = "content-range"
  case retryAfter = "retry-after"
  case date
  case cacheControl = "cache-control"
  case fieldList = "field-list"
  case entityTag = "entity-tag"
  case vary
  case digestFields = "digest-fields"
  case structuredField = "structured-field"
  case challenges
  case mediaType = "media-type"
  case contentDisposition = "content-disposition"
  case fileName = "file-name"
  case cookies
  case link
  // URLs.
  case url, location, redaction
  // Bodies.
  case textDecoding = "text-decoding"
  case json
  case encode
  case jsonPath = "json-path"
  case jsonShape = "json-shape"
  case decode
  case xml
  case propertyList = "property-list"
  case form
  case netrc
  // Disks and stores.
  case cacheEntry = "cache-entry"
  case partRecord = "part-record"
  case redisReply = "redis-reply"
  // Files of other programs.
  case archive
  case flightFile = "flight-file"
  case document

  /// What is done with one input.
  var body: (FuzzInput) -> Void {
    switch self {
    case .connection: EngineTargets.connection
    case .http2: HTTP2Targets.http2
    case .tlsRecords: TLSTargets.records
    case .responseHead: AnswerTargets.responseHead
    case .statusLine: AnswerTargets.statusLine
    case .chunks: AnswerTargets.chunks
    case .events: StreamTargets.events
    case .gzip: { CodingTargets.decode($0, "gzip") }
    case .deflate: { CodingTargets.decode($0, "deflate") }
    case .brotli: { CodingTargets.decode($0, "br") }
    case .zstd: { CodingTargets.decode($0, "zstd") }
    case .contentCoding: CodingTargets.names
    default: fieldBody ?? storedBody
    }
  }

  private var fieldBody: ((FuzzInput) -> Void)? {
    switch self {
    case .contentRange: FieldTargets.contentRange
    case .retryAfter: FieldTargets.retryAfter
    case .date: FieldTargets.date
    case .cacheControl: CacheFieldTargets.cacheControl
    case .fieldList: CacheFieldTargets.fieldList
    case .entityTag: CacheFieldTargets.entityTag
    case .vary: CacheFieldTargets.vary
    case .digestFields: FieldTargets.digestFields
    case .structuredField: FieldTargets.structuredField
    case .challenges: FieldTargets.challenges
    case .mediaType: FieldTargets.mediaType
    case .contentDisposition: NameTargets.contentDisposition
    case .fileName: NameTargets.fileName
    case .cookies: FieldTargets.cookies
    case .link: FieldTargets.link
    default: nil
    }
  }

  private var storedBody: (FuzzInput) -> Void {
    switch self {
    case .url: URLTargets.url
    case .location: URLTargets.location
    case .redaction: URLTargets.redaction
    case .textDecoding: BodyTargets.text
    case .json: BodyTargets.json
    case .encode: EncodeTargets.encode
    case .jsonPath: BodyTargets.path
    case .jsonShape: BodyTargets.shape
    case .decode: DecodeTargets.decode
    case .xml: FormatTargets.xml
    case .propertyList: FormatTargets.propertyList
    case .form: FormatTargets.form
    case .netrc: FormatTargets.netrc
    case .cacheEntry: StoredTargets.cacheEntry
    case .partRecord: StoredTargets.partRecord
    case .redisReply: StoredTargets.redisReply
    case .archive: ArchiveTargets.archive
    case .flightFile: ArchiveTargets.flightFile
    case .document: ArchiveTargets.document
    default: { _ in fatalError("\(self) is not wired up") }
    }
  }
}
