import { expect, test } from "vitest";
import { mapConnectionError } from "./connection-error.ts";

const failure = (code: string) => Object.assign(new Error("failed"), { code });

test.each(["ECONNREFUSED", "08006", "53000", "53100", "53200", "53300", "57P03"])("%s is a temporary unavailability", (code) => {
  const error = failure(code);
  expect(mapConnectionError(error)).toMatchObject({ code: "unavailable", cause: error });
});

test.each(["23505", "53400", "22021", "40001"])("%s is an answer of the database", (code) => {
  const error = failure(code);
  expect(mapConnectionError(error)).toBe(error);
});

test.each(["57014", "55P03", "25P03"])("%s is a limit that was reached: unavailable with a time to retry", (code) => {
  const error = failure(code);
  expect(mapConnectionError(error)).toMatchObject({ code: "unavailable", cause: error, headers: { "retry-after": "2" } });
});
