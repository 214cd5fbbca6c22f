#if os(Linux)
  import Testing

  @testable import ErrandCurl

  /// The lines of libcurl's debug output that the transport understands.
  struct CurlDebugTextTests {
    @Test(
      arguments: [
        ("Using Stream ID: 7 (easy handle 0x55d0)\n", .stream(7)),
        ("recveived GOAWAY, error=0, last_stream=13\n", .lastStream(13)),
        ("received GOAWAY, error=11, last_stream=2147483647", .lastStream(2_147_483_647)),
        ("Connection died, retrying a fresh connect (retry count: 1)\n", .leaving),
        ("REFUSED_STREAM, retrying a fresh connect\n", .leaving), ("Downgrades to HTTP/1.1!\n", .leaving),
        ("Using Stream ID: 99999999999 (easy handle 0x1)\n", nil), ("Using Stream ID: \n", nil),
        ("received GOAWAY, error=0\n", nil), ("Rated: Using Stream ID: 1\n", nil),
        ("Using GOAWAY, error=0, last_stream=1\n", nil), ("Re-using existing connection #0 with host localhost\n", nil),
        ("Connection #0 to host localhost left intact\n", nil), ("h2h3 [last_stream=1]\n", nil), ("", nil),
      ] as [(String, CurlDebugText?)]) func `libcurl's lines are recognised`(line: String, word: CurlDebugText?)
    {
      var line = line
      #expect(line.withUTF8 { CurlDebugText(UnsafeRawBufferPointer($0)) } == word)
    }
  }
#endif
