package import ErrandCore
import Foundation
package import Testing

/// The requirements for every transport, as a list of checks that can run against any transport.
///
/// ```swift
/// @Test(arguments: TransportConformance.all(for: MyTransport()))
/// func `transport passes conformance checks`(_ check: TransportConformance.Check) async throws {
///   try await check.run(MyTransport())
/// }
/// ```
package enum TransportConformance {
  /// One requirement for transports.
  package struct Check: Sendable, CustomTestStringConvertible {
    package let name: String
    /// The capabilities that a transport needs before this check can run.
    package let needs: TransportCapabilities
    package let run: @Sendable (any Transport) async throws -> Void

    package init(
      _ name: String, needs: TransportCapabilities = [], _ run: @escaping @Sendable (any Transport) async throws -> Void
    ) {
      self.name = name
      self.needs = needs
      self.run = run
    }

    package var testDescription: String { name }
  }

  /// The checks that match the capabilities of a transport. `isStrict` adds the checks of exact framing.
  package static func all(for transport: any Transport, isStrict: Bool = true) -> [Check] {
    (basic + (isStrict ? framing : [])).filter { transport.capabilities.isSuperset(of: $0.needs) }
  }

  /// All checks, independent of the capabilities of a transport.
  package static var every: [Check] { basic + framing }

  private static var basic: [Check] { messages + bodies + uploads + faults + stops + resending + published }

  // MARK: - Helpers

  package static func get(_ transport: any Transport, _ url: String) async throws -> HTTPResponse {
    try await transport.send(Exchange(request: HTTPRequest(url: url)))
  }

  /// The failure of an exchange. If the exchange succeeds, this records an issue and returns nil.
  package static func failure(
    of exchange: Exchange, over transport: any Transport, sourceLocation: SourceLocation = #_sourceLocation
  ) async -> TransportFailure? {
    do {
      let response = try await transport.send(exchange)
      Issue.record("expected a failure, got \(response)", sourceLocation: sourceLocation)
    } catch let failure as TransportFailure {
      return failure
    } catch {
      Issue.record("expected a transport failure, got \(error)", sourceLocation: sourceLocation)
    }
    return nil
  }

  /// The reason for which an exchange was stopped. If it was not stopped, this records an issue and returns nil.
  package static func stop(
    of exchange: Exchange, over transport: any Transport, sourceLocation: SourceLocation = #_sourceLocation
  ) async -> CallState.StopReason? {
    do {
      let response = try await transport.send(exchange)
      Issue.record("expected a stop, got \(response)", sourceLocation: sourceLocation)
    } catch let stopped as CallState.Stopped {
      return stopped.reason
    } catch {
      Issue.record("expected a stop, got \(error)", sourceLocation: sourceLocation)
    }
    return nil
  }
}

extension HTTPResponse {
  /// The body as text, decoded as UTF-8.
  package var text: String { String(decoding: body, as: UTF8.self) }
}
