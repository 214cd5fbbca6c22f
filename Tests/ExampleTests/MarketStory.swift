extension MarketTests {
  /// The expected output of the program.
  static let story = """
    The list, page by page
      scrolled again while it loads: not sent
      Brass lamp, 45.00 EUR
      Red chair, price on request
      the list failed: The server answered 503 Service Unavailable; expected 200–299.
      the user tries again
      Wall clock, 19.90 EUR
      – the end –

    One offer, two screens
      rates: EUR 100, SEK 1130 (network)
      (spinner on)
      BRASS LAMP | Buy for 45.00 EUR | Ada, 12 sales (network)
      in the basket: Brass lamp, 45.00 EUR
      (spinner off)

    Offers that fail
      no sheet: The response could not be converted by the reformer OfferSheet: offer 8 has no price.
      the offer failed: The server rejected the request with code 17: This offer is sold.
      the offer failed: A parameter is wrong: the number of an offer must be above 0.

    Again: a cache time for each API
      BRASS LAMP | Buy for 45.00 EUR | Ada, 12 sales (cache-fresh)
      rates: EUR 100, SEK 1130 (network)
      Brass lamp, 45.00 EUR
      Red chair, price on request
      requests for all three: 1

    Wrong parameters are not sent
      rejected: A parameter is wrong: a search word needs at least two letters.
      rejected: A parameter is wrong: a price must not be below 0.
      rejected: The manager has no source of requests; set `source`, or pass a request to `start`.
      requests for all three: 0

    Only the last search counts
      cancelled
      found: Brass lamp
      cancelled

    Uploading a picture
      lamp.jpg:
      sent: 25 %
      sent: 50 %
      sent: 75 %
      sent: 100 %
      the offer has 2 pictures now
      wall.png:
      sent: 25 %
      sent: 50 %
      sent: 75 %
      sent: 100 %
      not added: Pictures may have 2 MiB at most.
      lamp.txt:
      not added: A parameter is wrong: lamp.txt is not a picture; choose a jpg or png file.
      missing.jpg: build/invalidBody, and 0 requests

    Another HTTP library, by name
      rates: EUR 100, SEK 1130 (network)
      "counting" carried 1 exchange; the server had 1 request
      rates: EUR 100 (network)
      a picture over "pocket": The transport cannot send a streamed body (capability bodySource)
      the server had 0 requests of "pocket"
      over "pigeon": build/unsupported

    """
}
