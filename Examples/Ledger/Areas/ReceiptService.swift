import Errand
import Foundation

/// Pictures of receipts, from the CDN. Their names change with their content, so they are cached for a year. The client
/// declares this for the CDN's hosts; no request does.
struct ReceiptService: LedgerService {
  let client: APIClient

  struct Picture: LedgerRequest {
    let name: String
    var path: Path { "/receipts/\(name).png" }
    var server: RequestServer { .cdn }
    var validation: ResponseValidation { ResponseValidation(contentTypes: ["image/*"]) }
  }

  func picture(_ name: String) async throws(APIError) -> APIResponse<Data> {
    try await client.response(Picture(name: name))
  }
}
