import Errand

/// Reports: they come from a host of their own, each in the form it is wanted in.
struct ReportService: LedgerService {
  let client: APIClient

  /// Text, for the printer.
  struct Statement: ReportRequest {
    let month: Int
    var path: Path { "/statements/\(month)" }
    typealias Response = String
  }

  /// JSON, from a service that the firm has bought.
  struct Rates: ReportRequest {
    var path: Path { "/rates" }
    typealias Response = [String: Int]
  }

  /// A message that takes the server long: it has a time-out of its own.
  struct Year: ReportRequest {
    var path: Path { "/year" }
    var timeouts: Timeouts? { Timeouts(total: .seconds(60)) }
    typealias Response = BookingsMessage
  }

  func statement(month: Int) async throws(APIError) -> String { try await client.send(Statement(month: month)) }

  func rates() async throws(APIError) -> [String: Int] { try await client.send(Rates()) }

  func year() async throws(APIError) -> [Booking] { try await model(Year()) }
}

/// What the requests for reports have in common.
protocol ReportRequest: LedgerRequest {}

extension ReportRequest {
  var server: RequestServer { .environment("reports") }
}
