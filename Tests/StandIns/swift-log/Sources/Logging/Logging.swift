// A stand-in documents nothing: the package that it stands for does.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

/// Stand-in for the logger of swift-log.
public struct Logger: Sendable {
  public enum Level: Sendable {
    case debug, warning
  }

  public enum MetadataValue: Sendable, ExpressibleByStringInterpolation, Equatable, CustomStringConvertible {
    case string(String)

    public init(stringLiteral value: String) { self = .string(value) }
    public var description: String { if case .string(let text) = self { text } else { "" } }
  }

  public typealias Metadata = [String: MetadataValue]

  public struct Message: Sendable, ExpressibleByStringInterpolation, CustomStringConvertible {
    public let description: String

    public init(stringLiteral value: String) { description = value }
  }

  public var logLevel = Level.debug
  private let handler: any LogHandler

  public init(label: String, factory: (String) -> any LogHandler) { handler = factory(label) }

  public func log(
    level: Level, _ message: @autoclosure () -> Message, metadata: @autoclosure () -> Metadata? = nil
  ) {
    handler.log(event: LogEvent(level: level, message: message(), metadata: metadata()))
  }
}

public struct LogEvent: Sendable {
  public var level: Logger.Level
  public var message: Logger.Message
  public var metadata: Logger.Metadata?
}

public protocol LogHandler: Sendable {
  func log(event: LogEvent)
  subscript(metadataKey key: String) -> Logger.MetadataValue? { get set }
  var metadata: Logger.Metadata { get set }
  var logLevel: Logger.Level { get set }
}
