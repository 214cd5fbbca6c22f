import Errand
import Foundation

/// Pictures of receipts, from the CDN. Their names change with what they show, so they are kept for a year: the client
/// says so for the CDN's hosts, and no request does.
struct ReceiptService: LedgerService {
  let client: APIClient

  struct Picture: LedgerRequest {
    let name: String
    var path: Path { "/receipts/\(name).png" }
    var server: RequestServer { .cdn }
    var contentTypes: [String]? { ["image/*"] }
  }

  func picture(_ name: String) async throws(APIError) -> APIResponse<Data> {
    try await client.response(Picture(name: name))
  }
}
