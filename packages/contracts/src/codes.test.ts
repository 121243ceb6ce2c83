import { describe, expect, it } from "vitest";
import {
  actionStatus,
  actionStatusNames,
  bucket,
  bucketNames,
  forceType,
  forceTypeNames,
  updateStatus,
  updateStatusNames,
} from "./codes.ts";

describe("numbers of statuses", () => {
  it.each([
    ["actionStatus", actionStatus, actionStatusNames],
    ["updateStatus", updateStatus, updateStatusNames],
    ["forceType", forceType, forceTypeNames],
    ["bucket", bucket, bucketNames],
  ] as const)("%s: the number of a name is its place in the list", (_name, table, names) => {
    expect(table).toEqual(Object.fromEntries(names.map((name, index) => [name, index])));
  });
});
