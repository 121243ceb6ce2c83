import { targetCsvInput, targetCsvOutput } from "@harrier/contracts";
import { expect, test } from "vitest";
import { lookAt, passedColumns, readColumns } from "./import.state.ts";

test("the columns are those of the contract", () => {
  expect(readColumns).toEqual([...targetCsvInput]);
  expect(passedColumns).toEqual([...targetCsvOutput]);
});

test.each([
  ["controllerId\na\nb\n", 2],
  ["controllerId\r\na\r\n\r\nb", 2],
  ['\uFEFFname,controllerId\n"two\nlines",a\n"with ""quotes""\n",b\n', 2],
  ["controllerId", 0],
  ["", 0],
])("%j has %i records", (text, records) => expect(lookAt(text).records).toBe(records));

test("a look tells which columns are read, and which one the server would refuse", () => {
  expect(lookAt('"controllerId", name,createdAt\na,b,1')).toMatchObject({
    columns: ["controllerId", "name"],
    unknown: undefined,
    hasId: true,
  });
  expect(lookAt("id,name\na,b")).toMatchObject({ columns: ["name"], unknown: "id", hasId: false });
});
