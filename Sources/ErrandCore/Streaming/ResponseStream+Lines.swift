public import ErrandJSON

extension ResponseStream {
  /// How many bytes a line may have where nothing is said.
  public static var lineLimit: Int { 1 << 20 }

  /// The body as lines of text.
  public var lines: ResponseLines { lines(limit: Self.lineLimit) }

  /// The body as lines of text.
  /// - Parameter limit: How many bytes a line may have; a longer one ends the call with an error of code `tooLarge`.
  public func lines(limit: Int) -> ResponseLines { ResponseLines(stream: self, limit: limit) }

  /// The body as newline-delimited JSON, such as `application/x-ndjson`.
  ///
  /// ```swift
  /// for try await row in try await client.stream(GetExport()).values(of: Row.self) { table.add(row) }
  /// ```
  ///
  /// - Parameters:
  ///   - type: What each line is.
  ///   - json: The rules to read it by; nil for those of the request and the client.
  ///   - limit: How many bytes a line may have; a longer one ends the call with an error of code `tooLarge`.
  public func values<Value: Decodable & Sendable>(
    of type: Value.Type, by json: JSONDecoding? = nil, limit: Int = ResponseStream.lineLimit
  ) -> ResponseValues<Value> {
    ResponseValues(stream: self, json: json ?? self.json, limit: limit)
  }
}
