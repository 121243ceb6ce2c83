import { expect, test } from "vitest";
import { parseBasic } from "./basic.ts";

const parse = (text: string) => parseBasic(Buffer.from(text).toString("base64"));

test("the name ends at the first colon", () => {
  expect(parse("DEFAULT\\ädmin:pass:wörd ")).toEqual({ username: "DEFAULT\\ädmin", password: "pass:wörd " });
  expect(parse("admin:")).toEqual({ username: "admin", password: "" });
});

test.each(["", "admin", ":secret"])("%j names nobody", (text) => expect(parse(text)).toBeUndefined());

test.each(["a\u0000b:c", "admin:secret\u0000", "admin:sec\u007fret", "admin:secret\n"])("%j is refused", (text) =>
  expect(parse(text)).toBeUndefined(),
);
