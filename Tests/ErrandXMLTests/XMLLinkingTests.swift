#if canImport(FoundationXML)
  import Foundation
  import TestSupport
  import Testing

  struct XMLLinkingTests {
    /// libFoundationXML links libxml2. The snippet about formats reads XML; the command line tool and the examples do
    /// not.
    @Test func `other programs do not link libxml2`() throws {
      // Only the complete build has these programs.
      if isSanitized { return }
      let words = Data("libFoundationXML".utf8)
      #expect(try Data(contentsOf: BuiltProgram("Formats").place).range(of: words) != nil)
      for name in ["errand", "ExampleAlbum", "ExampleLedger", "ExampleMarket"] {
        #expect(try Data(contentsOf: BuiltProgram(name).place).range(of: words) == nil, "\(name)")
      }
    }
  }
#endif
