import { expect, test } from "vitest";
import { isReplyExchange } from "./topology.ts";

test.each(["replies", "a b", "a/b", "größe", "amq.gen-JzTY", "x".repeat(255), "ä".repeat(127)])(
  "messages for things can be sent to %s",
  (name) => expect(isReplyExchange(name)).toBe(true),
);

test.each(["", "a\u0000b", "x\n", "\rx", "a\u0085b", "x".repeat(256), "ä".repeat(128), "amq.direct", "dmf.exchange", "sie.exchange"])(
  "nothing is sent to %j",
  (name) => expect(isReplyExchange(name)).toBe(false),
);
