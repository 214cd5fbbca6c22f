import Errand

/// Reports, from a separate host, each in its own format.
struct ReportService: LedgerService {
  let client: APIClient

  /// A text to print.
  struct Statement: ReportRequest {
    let month: Int
    var path: Path { "/statements/\(month)" }
    typealias Response = String
  }

  /// JSON, from an external service.
  struct Rates: ReportRequest {
    var path: Path { "/rates" }
    typealias Response = [String: Int]
  }

  /// A message that takes the server long, so the request has its own time-out.
  struct Year: ReportRequest {
    var path: Path { "/year" }
    var timeouts: Timeouts { Timeouts(total: .seconds(60)) }
    typealias Response = BookingsMessage
  }

  func statement(month: Int) async throws(APIError) -> String { try await client.send(Statement(month: month)) }

  func rates() async throws(APIError) -> [String: Int] { try await client.send(Rates()) }

  func year() async throws(APIError) -> [Booking] { try await model(Year()) }
}

/// The common properties of the requests for reports.
protocol ReportRequest: LedgerRequest {}

extension ReportRequest {
  var server: RequestServer { .environment("reports") }
}
