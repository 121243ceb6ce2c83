import { describe, expect, it } from "vitest";
import { isDownloadUrl, type LinkPattern, parseArtifactLinks } from "./artifact-links.ts";

const shown = ({ texts, names }: LinkPattern): string => texts.map((text, i) => text + (i < names.length ? `{${names[i]}}` : "")).join("");
const links = (text: string) => Object.values(parseArtifactLinks(text)).map(shown);
const classic = "{download_url}/api/v1/{tenant}/download/controller/{controllerId}/softwaremodules/{moduleId}/filename/{filename}";
const hawkbit = "{download_url}/{tenant}/controller/v1/{controllerId}/softwaremodules/{moduleId}/artifacts/{filename}";
const sum = (pattern: string): string => `${pattern}.MD5SUM`;

describe("the setting of artifact links", () => {
  it.each([
    ["classic", [classic, sum(classic), classic, sum(classic)]],
    ["hawkbit", [hawkbit, sum(hawkbit), hawkbit, sum(hawkbit)]],
    ["download-http=hawkbit", [classic, sum(classic), hawkbit, sum(hawkbit)]],
    ["  download=hawkbit   md5sum-http=hawkbit ", [hawkbit, sum(hawkbit), classic, sum(hawkbit)]],
    [
      "download=https://cdn.example.com/{tenant}/{sha1}?name={filename}",
      [
        "https://cdn.example.com/{tenant}/{sha1}?name={filename}",
        "https://cdn.example.com/{tenant}/{sha1}?name={filename}.MD5SUM",
        classic,
        sum(classic),
      ],
    ],
    ["md5sum={download_url}/sums/{sha1}", [classic, "{download_url}/sums/{sha1}", classic, sum(classic)]],
  ])("%s", (text, expected) => {
    expect(links(text)).toEqual(expected);
  });

  it.each([
    ["", "neither classic"],
    ["Classic", "neither classic"],
    ["self=classic", "neither classic"],
    ["download=hawkbit download=classic", "given twice"],
    ["download=", "does not begin"],
    ["download=/{filename}", "does not begin"],
    ["download=ftp://h/{filename}", "does not begin"],
    ["download=https://user@h/{filename}", "does not begin"],
    ["download=https://{tenant}.example.com/{filename}", "does not begin"],
    ["download=https://h/{file}/{filename}", "braces"],
    ["download=https://h/{filename", "braces"],
    ["download=https://h/{tenant}/latest", "neither {filename}"],
  ])("the setting %j is refused", (text, why) => {
    expect(() => parseArtifactLinks(text)).toThrow(why);
  });
});

it.each([
  ["https://cdn.example.com", true],
  ["http://10.0.0.1:8080/files", true],
  ["https://cdn.example.com/", false],
  ["https://user:word@cdn.example.com", false],
  ["cdn.example.com", false],
  ["https://cdn.example.com/a?b", false],
  ["https://{tenant}.example.com", false],
])("the download host %s is %s", (text, expected) => {
  expect(isDownloadUrl(text)).toBe(expected);
});
