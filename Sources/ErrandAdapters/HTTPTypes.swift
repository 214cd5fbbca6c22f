#if HTTPTypes
  public import ErrandHTTP
  public import Foundation
  public import HTTPTypes

  /// Why a message could not be converted between Errand and swift-http-types: the two describe different sets of
  /// messages. Nothing is left out or changed silently instead.
  public struct HTTPConversionError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The part of a message that cannot be converted.
    public enum Part: Sendable, Hashable {
      /// The method of a request.
      case method
      /// The scheme, the authority and the path of a request.
      case url
      /// A header field, or the number of fields.
      case field
      /// The status code of a response.
      case status
    }

    /// The part that cannot be converted.
    public let part: Part
    /// An English sentence that names the part and the cure. It contains no field value, which may be a secret.
    public let description: String

    fileprivate init(_ part: Part, _ description: String) {
      self.part = part
      self.description = description
    }
  }

  // MARK: - Fields

  extension HTTPTypes.HTTPField {
    /// Makes a field of swift-http-types. The value keeps its text, in UTF-8. A secret field is never added to the
    /// dynamic table of a header compression (RFC 7541 section 7.1.3).
    ///
    /// - Throws: ``HTTPConversionError`` if the name is not a token, or if the value has a control character or begins or
    ///   ends with a space or a tab. swift-http-types would replace or remove such characters.
    public init(_ field: ErrandHTTP.HTTPField) throws(HTTPConversionError) {
      guard let name = HTTPTypes.HTTPField.Name(field.name.rawValue) else {
        throw HTTPConversionError(
          .field, "The field name \"\(field.name)\" is not a token; remove spaces, colons and line breaks.")
      }
      let bytes = FieldOctets.holds(field.value) ? FieldOctets.bytes(of: field.value) : Array(field.value.utf8)
      guard HTTPTypes.HTTPField.isValidValue(bytes) else {
        throw HTTPConversionError(
          .field,
          "The value of the field \(field.name) has a control character, or a space or tab at an end; remove it.")
      }
      self.init(name: name, value: bytes)
      if field.isSecret { indexingStrategy = .disallow }
    }
  }

  extension ErrandHTTP.HTTPField {
    /// Makes a field from a field of swift-http-types. A field that is never added to the dynamic table of a header
    /// compression is secret, and so are the fields that always are, such as `Authorization`.
    ///
    /// - Throws: ``HTTPConversionError`` if the value is not UTF-8.
    public init(_ field: HTTPTypes.HTTPField) throws(HTTPConversionError) {
      guard let value = field.withUnsafeBytesOfValue({ String(validating: $0, as: UTF8.self) }) else {
        throw HTTPConversionError(.field, "The value of the field \(field.name) is not UTF-8; encode it as text.")
      }
      self.init(HTTPFieldName(field.name.rawName), value, isSecret: field.indexingStrategy == .disallow)
    }
  }

  extension HTTPTypes.HTTPFields {
    /// The largest number of fields that swift-http-types accepts. More fields end the process there.
    private static let mostFields = 65_000

    /// Makes fields of swift-http-types, in the same order. A name that occurs several times stays several fields.
    ///
    /// - Throws: ``HTTPConversionError`` if a field cannot be converted, or if there are more than 65,000 fields.
    public init(_ fields: ErrandHTTP.HTTPFields) throws(HTTPConversionError) {
      let all = fields.all
      guard all.count <= Self.mostFields else {
        throw HTTPConversionError(.field, "The message has \(all.count) fields; \(Self.mostFields) are possible.")
      }
      self.init()
      reserveCapacity(all.count)
      for field in all { append(try HTTPTypes.HTTPField(field)) }
    }
  }

  extension ErrandHTTP.HTTPFields {
    /// Makes fields from fields of swift-http-types, in the same order. A name that occurs several times stays several
    /// fields.
    ///
    /// - Throws: ``HTTPConversionError`` if a value is not UTF-8.
    public init(_ fields: HTTPTypes.HTTPFields) throws(HTTPConversionError) {
      var list: [ErrandHTTP.HTTPField] = []
      list.reserveCapacity(fields.count)
      for field in fields { list.append(try ErrandHTTP.HTTPField(field)) }
      self.init(list)
    }
  }

  // MARK: - Requests

  extension HTTPTypes.HTTPRequest {
    /// Makes a request of swift-http-types: method, URL and fields. It has no body. An empty path becomes `/`, and the
    /// port is left out if it is the default of the scheme.
    ///
    /// - Throws: ``HTTPConversionError`` if the method is not a token, or if a field cannot be converted.
    public init(_ request: ErrandHTTP.HTTPRequest) throws(HTTPConversionError) {
      guard let method = HTTPTypes.HTTPRequest.Method(request.method.rawValue) else {
        throw HTTPConversionError(
          .method, "The method \"\(request.method)\" is not a token; use a word such as GET, without spaces.")
      }
      let url = request.url
      let port = url.port == url.scheme.defaultPort ? "" : ":\(url.port)"
      let path = (url.path.isEmpty ? "/" : url.path) + (url.query.map { "?" + $0 } ?? "")
      self.init(
        method: method, scheme: url.scheme.rawValue, authority: url.host + port, path: path,
        headerFields: try HTTPTypes.HTTPFields(request.fields))
    }
  }

  extension ErrandHTTP.HTTPRequest {
    /// Makes a request from a request of swift-http-types, and a body.
    ///
    /// Fields that describe how a message is sent, such as `Content-Length` and `Host`, are kept. Remove them before the
    /// request is sent, because only a transport may set them.
    ///
    /// - Throws: ``HTTPConversionError`` if the request opens a tunnel (CONNECT), if it has no scheme, authority or path,
    ///   if its path is `*` or contains `#`, if the URL is not http or https, or if a field cannot be converted.
    public init(
      _ request: HTTPTypes.HTTPRequest, body: ErrandHTTP.HTTPBody? = nil
    ) throws(HTTPConversionError) {
      guard request.method != .connect, request.extendedConnectProtocol == nil else {
        throw HTTPConversionError(.method, "A CONNECT request opens a tunnel, which only a transport may do.")
      }
      let url = try Self.url(of: request)
      self.init(
        method: HTTPMethod(request.method.rawValue), url: url, fields: try ErrandHTTP.HTTPFields(request.headerFields),
        body: body)
    }

    private static func url(of request: HTTPTypes.HTTPRequest) throws(HTTPConversionError) -> HTTPURL {
      guard let scheme = request.scheme, let authority = request.authority, let path = request.path else {
        throw HTTPConversionError(.url, "The request lacks a scheme, an authority or a path; set all three.")
      }
      guard path.utf8.first == 0x2F else {
        throw HTTPConversionError(.url, "The path of the request does not begin with a slash; write one.")
      }
      // HTTPURL would drop a fragment, and with it the rest of the path and the query.
      guard !path.utf8.contains(0x23) else {
        throw HTTPConversionError(
          .url, "The path of the request contains `#`; write it as %23, or leave the fragment out.")
      }
      guard !authority.utf8.contains(where: { [0x23, 0x2F, 0x3F, 0x40, 0x5C].contains($0) }) else {
        throw HTTPConversionError(.url, "The authority of the request is more than a host and a port.")
      }
      do {
        return try HTTPURL("\(scheme)://\(authority)\(path)")
      } catch {
        throw HTTPConversionError(.url, "The URL of the request cannot be sent: \(error).")
      }
    }
  }

  // MARK: - Responses

  extension HTTPTypes.HTTPResponse {
    /// Makes a response of swift-http-types: status, reason and fields. It has no HTTP version. Characters of the reason
    /// that swift-http-types does not accept become spaces.
    ///
    /// - Throws: ``HTTPConversionError`` if the status has not three digits, or if a field cannot be converted.
    public init(_ head: ResponseHead) throws(HTTPConversionError) {
      guard (100...999).contains(head.status) else {
        throw HTTPConversionError(.status, "The status \(head.status) has not three digits; use 100 to 999.")
      }
      self.init(
        status: Status(code: head.status, reasonPhrase: head.reason),
        headerFields: try HTTPTypes.HTTPFields(head.fields))
    }

    /// Makes a response of swift-http-types from the head of a response; see ``init(_:)``. It has no body.
    /// - Throws: ``HTTPConversionError``.
    public init(_ response: ErrandHTTP.HTTPResponse) throws(HTTPConversionError) { try self.init(response.head) }
  }

  extension ResponseHead {
    /// Makes a head from a response of swift-http-types.
    ///
    /// - Throws: ``HTTPConversionError`` if the status is less than 100, or if a field cannot be converted.
    public init(_ response: HTTPTypes.HTTPResponse, version: Version = .http1_1) throws(HTTPConversionError) {
      let status = response.status
      guard (100...999).contains(status.code) else {
        throw HTTPConversionError(.status, "The status \(status.code) has not three digits; use 100 to 999.")
      }
      self.init(
        status: status.code, reason: status.reasonPhrase, version: version,
        fields: try ErrandHTTP.HTTPFields(response.headerFields))
    }
  }

  extension ErrandHTTP.HTTPResponse {
    /// Makes a response from a response of swift-http-types, its body and the URL to which it belongs.
    /// - Throws: ``HTTPConversionError``; see ``ErrandHTTP/ResponseHead``.
    public init(
      _ response: HTTPTypes.HTTPResponse, body: Data = Data(), url: HTTPURL
    ) throws(HTTPConversionError) {
      self.init(head: try ResponseHead(response), body: body, url: url)
    }
  }
#endif
