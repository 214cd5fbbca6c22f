extension HelpText {
  static let send = #"""
    usage: errand send [METHOD] URL [name=value …] [option …]

    Sends one request and prints the response body: indented and coloured on a terminal, byte for byte
    in a pipe. A failure is reported by a message on standard error and by the exit status.

      METHOD              by default GET; POST if --json or --form make a body
      URL                 the default scheme is https://, for this machine http://;
                          :8080/x is short for http://localhost:8080/x
      name=value          an argument with a text value; every character is preserved
      name:=json          an argument with a JSON value: count:=3  tags:='["a","b"]'  on:=true

    where the arguments go (by default: the query for GET, HEAD and DELETE, otherwise a form)
      --json              into a JSON body
      --form              into a form body
      --query             into the query

    what is sent with it
      -H 'Name: value'    a header field; may be repeated; 'Name:' omits a field
      --user NAME:PASS    basic credentials
      --bearer TOKEN      a bearer token
                          For both, @FILE reads the first line of a file, because other users of this
                          machine can see the arguments of a command

    what is expected
      --shape SHAPE       the shape that the JSON must have, see below
      --timeout SECONDS   the limit for the whole call, including redirects, such as 0.3; by default
                          120 s, or none for a body that goes to a file or a pipe. Connecting is always
                          limited to 10 s, and idle time to 60 s
      --no-follow         show a redirect instead of following it

    what is cached (see also “errand cache --help”)
      --cache DIR         store responses in a folder, created if it is missing, and serve them from
                          there by the rules of HTTP: up to 100 MiB, 5 MiB for a response. Bodies are
                          then held in memory, at most 32 MiB, and the time-out is 120 s
      --lifetime TIME     keep responses for this time, whatever server and method say: 30s 10m 2h 7d
      --tag WORD          a tag for the response, by which it can be removed
      --mode WORD         how this call uses the cache:
            declared        serve a fresh response, otherwise ask the server; the default
            revalidate      ask the server whether the stored response is still valid
            ignore          read nothing from the cache, but store the response
            without         neither read from the cache nor store the response
            cached          serve a stored response of any age, otherwise ask the server
            offline         ask the server, and serve a stored response if it cannot be reached
            only            serve a stored response while it is fresh, and never ask the server
            stored          serve a stored response of any age, and never ask the server

    and more
      -o FILE             write the body to a file, which appears only when it is complete; “-” means
                          standard output
      -v                  print to standard error what is sent and received, the origin of the response
                          and the reason, and how long it took; with masked secrets
      --no-proxy          use no proxy, and ignore http_proxy, https_proxy, all_proxy and no_proxy
      --                  everything after it is an argument, not an option

    a shape looks like the response, with types in place of values
      string  number  integer  bool  null  any  array  object
      string|null         either; =a|=b are the texts a and b, 1|2 the numbers
      integer?            the key may be missing
      ["string"]          a list of texts, [] of anything
      {"home|null?": {…}} |null and ? at the end of the key, for values that are objects or lists

    examples
      errand send https://api.example.com/users/7
      errand send --json https://api.example.com/users name=Ada age:=36 tags:='["maths"]'
      errand send PATCH :8080/users/7 --json nick=ada --bearer "$TOKEN" -v
      errand send https://api.example.com/users --shape '{"items": [{"nick": "string"}]}'
      errand send https://cdn.example.com/film.mp4 -o film.mp4
      errand send https://api.example.com/users q=ada --timeout 2 | jq .items

    exit status
      0  the response is as expected                    64  wrong arguments, or an invalid request
      1  any other failure                              65  the body is not JSON, or has another shape
      6  the host name could not be resolved            66  --mode only, and nothing is stored
      7  the server is unreachable                      72  the folder of --cache cannot hold a store
     22  the status is not 2xx; the body is printed     77  access to the folder of --cache is denied
     28  time-out                                      130  interrupted
     60  TLS failed, or the server is not trusted

    Other users of the machine can see the arguments of a command, including secrets.

    """#
}
