/** The first line of stdin, and when stdin ends: the process that holds it is gone then. */
export class Stdin {
  readonly firstLine: Promise<string>;
  readonly ended: Promise<void>;

  constructor(stream: NodeJS.ReadStream = process.stdin) {
    const line = Promise.withResolvers<string>();
    const end = Promise.withResolvers<void>();
    this.firstLine = line.promise;
    this.ended = end.promise;
    let text = "";
    const finish = () => {
      line.resolve(text);
      end.resolve();
    };
    stream.setEncoding("utf8");
    stream.on("data", (chunk: string) => {
      text += chunk;
      const newline = text.indexOf("\n");
      if (newline >= 0) line.resolve(text.slice(0, newline));
    });
    stream.on("end", finish);
    stream.on("error", finish);
    stream.on("close", finish);
  }
}
