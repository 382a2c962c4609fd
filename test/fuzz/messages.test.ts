import fc from "fast-check";
import { setDefaultTimeout } from "#test";
import { Connection } from "../../src/jsonrpc/connection";
import { ErrorCode, parse, RpcError } from "../../src/jsonrpc/message";
import { FUZZ_TIMEOUT_MS, tries } from "./effort";

setDefaultTimeout(FUZZ_TIMEOUT_MS);

interface Answer {
  id: unknown;
  result?: unknown;
  error?: { code: number; message: string };
}

/** Handlers of requests, by the method's name. */
const OUTCOMES = {
  value: () => ({ ok: true }),
  nothing: () => undefined,
  later: () => Promise.resolve([1]),
  refuses: () => {
    throw new RpcError(ErrorCode.InvalidParams, "no");
  },
  throws: () => {
    throw new Error("a fault");
  },
  rejects: () => Promise.reject(new TypeError("a later fault")),
  throwsOddly: () => {
    throw undefined;
  },
};
type Outcome = keyof typeof OUTCOMES;

function connect(): { receive(text: string): void; answers(): Promise<Answer[]> } {
  const sent: string[] = [];
  const transport = { send: (text: string) => void sent.push(text) };
  const connection = new Connection(transport, {
    request: (method) => OUTCOMES[method as Outcome]?.() ?? {},
    notification: (method) => {
      // Garbage may contain any method; a notification's handler returns no promise.
      if (method !== "rejects") OUTCOMES[method as Outcome]?.();
    },
  });
  return {
    receive: (text) => connection.receive(text),
    answers: async () => {
      await Bun.sleep(0);
      return sent.flatMap((text) => JSON.parse(text) as Answer | Answer[]);
    },
  };
}

const method = fc.constantFrom(...(Object.keys(OUTCOMES) as Outcome[]));
const id = fc.oneof(fc.integer(), fc.string(), fc.double({ noNaN: true, noDefaultInfinity: true }));
const params = fc.option(fc.oneof(fc.object(), fc.array(fc.jsonValue())), { nil: undefined });
const request = fc.record({ jsonrpc: fc.constant("2.0"), id, method, params });
const notification = fc.record({
  jsonrpc: fc.constant("2.0"),
  method: fc.constantFrom("value", "throws", "refuses", "throwsOddly"),
  params,
});
/** Anything that is sent as text: JSON of any shape, JSON with a few changed characters, and text that is not JSON. */
const garbage = fc.oneof(
  fc.json(),
  fc.string({ unit: "binary" }),
  fc.tuple(request, fc.nat(), fc.string({ maxLength: 3 })).map(([message, at, text]) => {
    const whole = JSON.stringify(message);
    const cut = at % whole.length;
    return whole.slice(0, cut) + text + whole.slice(cut + text.length);
  }),
  fc
    .record(
      {
        jsonrpc: fc.jsonValue(),
        id: fc.jsonValue(),
        method: fc.jsonValue(),
        params: fc.jsonValue(),
      },
      { requiredKeys: [] },
    )
    .map((message) => JSON.stringify(message)),
);

test("reads any text", () => {
  fc.assert(
    fc.property(garbage, (text) => {
      for (const { kind } of [parse(text)].flat()) {
        expect(["request", "notification", "response", "invalid"]).toContain(kind);
      }
    }),
    { numRuns: tries(2000), examples: [["[]"], ['{"jsonrpc":"2.0","id":1e400,"method":"value"}']] },
  );
});

test("answers each request once, whatever comes between", async () => {
  const messages = fc.array(
    fc.oneof(
      request.map((message) => ({ text: JSON.stringify(message), id: message.id })),
      notification.map((message) => ({ text: JSON.stringify(message), id: undefined })),
      garbage.map((text) => ({ text, id: undefined })),
    ),
    { maxLength: 20 },
  );
  await fc.assert(
    fc.asyncProperty(messages, async (list) => {
      const { receive, answers } = connect();
      for (const { text } of list) receive(text);
      const given = await answers();
      // Several requests may have the same id, and garbage may contain requests, too: expect at least this many
      // answers.
      for (const [wanted, asked] of Map.groupBy(list, (message) => sameId(message.id))) {
        if (wanted === undefined) continue;
        const count = given.filter((answer) => sameId(answer.id) === wanted).length;
        expect(count).toBeGreaterThanOrEqual(asked.length);
      }
      expect(given.length).toBeLessThanOrEqual(list.reduce((sum, { text }) => sum + most(text), 0));
      for (const { result, error } of given) {
        expect((result === undefined) !== (error === undefined)).toBe(true);
        if (error) expect(Number.isInteger(error.code)).toBe(true);
      }
    }),
    { numRuns: tries(500) },
  );
});

test("answers a batch with a batch, each request and mistake once", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof(request, notification, fc.jsonValue()), { minLength: 1, maxLength: 10 }),
      async (batch) => {
        const { receive, answers } = connect();
        receive(JSON.stringify(batch));
        const silent = batch.filter((message) => isSilent(message)).length;
        expect(await answers()).toHaveLength(batch.length - silent);
      },
    ),
    { numRuns: tries(500) },
  );
});

/** JSON knows neither -0 nor the difference between 1 and 1.0. */
const sameId = (value: unknown) => (value === undefined ? undefined : JSON.stringify(value));

/** The maximum number of answers to a text. */
function most(text: string): number {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? Math.max(1, value.length) : 1;
  } catch {
    return 1;
  }
}

/** A notification, or an answer to something that was never asked. */
function isSilent(message: unknown): boolean {
  const parsed = parse(JSON.stringify(message));
  return !Array.isArray(parsed) && ["notification", "response"].includes(parsed.kind);
}
