extension MarketTests {
  /// What the program writes.
  static let story = """
    The list, page by page
      once more while it loads: not asked
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

    What a sheet cannot show
      no sheet: The answer could not be reformed by OfferSheet: offer 8 has no price.
      the offer failed: The server refused with code 17: This offer is sold.
      the offer failed: A parameter is wrong: an offer has a number above 0.

    Back again: a lifetime for each API
      BRASS LAMP | Buy for 45.00 EUR | Ada, 12 sales (cache-fresh)
      rates: EUR 100, SEK 1130 (network)
      Brass lamp, 45.00 EUR
      Red chair, price on request
      requests for the three: 1

    Wrong parameters stay here
      refused: A parameter is wrong: a search needs two letters at least.
      refused: A parameter is wrong: a price is not below 0.
      refused: The manager has no source; set one, or give `start` a request.
      requests for the three: 0

    Only the last search counts
      given up
      found: Brass lamp
      given up

    A picture goes up
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
      no picture: Pictures may have 2 MiB at most.
      lamp.txt:
      no picture: A parameter is wrong: lamp.txt is no picture; choose a jpg or png file.
      missing.jpg: build/invalidBody, and 0 requests

    Another HTTP library, by name
      rates: EUR 100, SEK 1130 (network)
      "counting" carried 1 exchange; the server had 1 request
      rates: EUR 100 (network)
      a picture over "pocket": The transport cannot send a body that is read while it is sent (capability \
    bodySource)
      the server had 0 requests of "pocket"
      over "pigeon": build/unsupported

    """
}
