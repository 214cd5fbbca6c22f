// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import Errand
import Foundation

/// A request whose response type is left out, so that it is `Data`, a type of Foundation.
public struct GetPicture: APIRequest {
  public let name: String
  public var path: Path { "/pictures/\(name)" }

  public init(name: String) { self.name = name }
}
