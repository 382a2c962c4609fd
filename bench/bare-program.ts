/**
 * A minimal program, compiled as ours is. It is the floor for a hook's run and, with `serve`, for the server's start,
 * memory and answers.
 */
if (process.argv[2] === "serve") {
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (request, server) => (server.upgrade(request) ? undefined : new Response("no")),
    websocket: {
      maxPayloadLength: 64 * 1024 * 1024,
      // The answer to `{"bytes":n}` has n bytes. Anything else comes back unchanged.
      message(socket, message) {
        const text = String(message);
        const { bytes } = text.startsWith("{") ? JSON.parse(text) : {};
        socket.send(bytes === undefined ? text : "x".repeat(bytes));
      },
    },
  });
  // process.stdout would take longer than everything else.
  console.log(server.port);
}
