#if canImport(FoundationXML)
  import Foundation
  import TestSupport
  import Testing

  @Suite struct XMLLinkingTests {
    /// libxml2 comes with libFoundationXML. The snippet of the formats reads XML; the command and the apps do not.
    @Test func `nobody else links libxml2`() throws {
      let words = Data("libFoundationXML".utf8)
      #expect(try Data(contentsOf: BuiltProgram("Formats").place).range(of: words) != nil)
      for name in ["errand", "ExampleAlbum", "ExampleLedger", "ExampleMarket"] {
        #expect(try Data(contentsOf: BuiltProgram(name).place).range(of: words) == nil, "\(name)")
      }
    }
  }
#endif
