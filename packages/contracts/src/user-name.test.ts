import { expect, test } from "vitest";
import { newUserName } from "./user-name.ts";

const isName = (name: string) => newUserName.safeParse(name).success;

test.each([
  "ann",
  "Ann O'Hara",
  "ann.o-hara_1@example.com",
  "auth0|5f7c8ec7c33c6c004bbafe82",
  "https://id.example.com/ann?x=1,CN=a".replaceAll(":", "%3A"),
  "Jürgen",
  "Анна",
  "Άννα",
  "山田太郎",
  "山田 Taro",
  "אנה",
  "c_1",
  "2024",
])("%j can be the name of a user", (name) => {
  expect(isName(name)).toBe(true);
});

test.each([
  ["a Cyrillic letter among Latin ones", "\u0430dmin"],
  ["a Greek letter among Latin ones", "b\u03bfss"],
  ["an Armenian letter among Latin ones", "b\u0585ss"],
  ["another direction of writing", "ann\u202enimda"],
  ["a mark of direction", "admin\u200e"],
  ["no width", "ad\u200bmin"],
  ["a joiner", "ad\u200dmin"],
  ["a byte order mark", "ad\ufeffmin"],
  ["a soft hyphen", "ad\u00admin"],
  ["another blank", "ann\u00a0lee"],
  ["a wide form", "\uff41dmin"],
  ["a ligature", "\ufb01ne"],
  ["a letter in two parts", "Ju\u0308rgen"],
  ["a line end", "ann\nlee"],
  ["a separator of lines", "ann\u2028lee"],
  ["a private character", "ann\ue000"],
  ["a colon", "ann:lee"],
  ["a backslash", "t\\ann"],
  ["the id of a client", "oc_1_5"],
  ["the beginning of one in capitals", "OC_x"],
])("%s cannot be part of a new name", (_, name) => {
  expect(isName(name)).toBe(false);
});
