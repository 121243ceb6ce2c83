import { describe, expect, it } from "vitest";
import { hoursMinutesSeconds, parsePollingTime } from "./polling-time.ts";

const plain = (seconds: number, jitterPercent = 0) => ({ interval: { seconds, jitterPercent }, overrides: [] });

describe("parsePollingTime", () => {
  it.each([
    ["00:05:00", plain(300)],
    ["00:00:30", plain(30)],
    ["23:59:59", plain(86_399)],
    ["01:02:03", plain(3_723)],
    ["02:30", plain(150)],
    ["45", plain(45)],
    ["PT1H30M", plain(5_400)],
    ["pt90s", plain(90)],
    ["PT45M", plain(2_700)],
    [" 01:00:00~10% ", plain(3_600, 10)],
    ["01:00:00 ~ 5%", plain(3_600, 5)],
    ["PT2H~0%", plain(7_200)],
  ])("reads %j", (text, expected) => {
    expect(parsePollingTime(text)).toEqual(expected);
  });

  it("reads the overrides in their order", () => {
    expect(parsePollingTime("00:02:00, controllerid == 4711 -> 00:01:00, group == 'Europe' -> 00:05:05")).toEqual({
      interval: { seconds: 120, jitterPercent: 0 },
      overrides: [
        { query: "controllerid == 4711", seconds: 60, jitterPercent: 0 },
        { query: "group == 'Europe'", seconds: 305, jitterPercent: 0 },
      ],
    });
  });

  it("leaves commas within a query to the query", () => {
    expect(parsePollingTime("01:00:00~10%,status =in= (in_sync,pending),name==a->PT5M~20%,name==b -> 40")).toEqual({
      interval: { seconds: 3_600, jitterPercent: 10 },
      overrides: [
        { query: "status =in= (in_sync,pending),name==a", seconds: 300, jitterPercent: 20 },
        { query: "name==b", seconds: 40, jitterPercent: 0 },
      ],
    });
  });

  it.each([
    ["", "''"],
    ["5m", "'5m'"],
    ["00:00:29", "between 00:00:30 and 23:59:59"],
    ["24:00:00", "'24:00:00'"],
    ["PT24H", "between"],
    ["PT", "'PT'"],
    ["PT1.5S", "'PT1.5S'"],
    ["P1D", "'P1D'"],
    ["00:60:00", "'00:60:00'"],
    ["-00:05:00", "'-00:05:00'"],
    ["00:05:00~100%", "'00:05:00~100%'"],
    ["00:05:00~%", "'00:05:00~%'"],
    ["00:05:00~10", "'00:05:00~10'"],
    ["00:05:00,", "lacks '-> <interval>'"],
    ["00:05:00, name==a", "'name==a' lacks"],
    ["00:05:00, -> 00:01:00", "lacks its query"],
    ["00:05:00, name==a -> ", "''"],
    ["00:05:00, name==a -> 00:00:10", "'00:00:10' is not between"],
    ["00:05:00, name==a -> 00:01:00, name==b -> 25:00:00", "'25:00:00'"],
  ])("refuses %j and names the part that is wrong", (text, what) => {
    expect(() => parsePollingTime(text)).toThrow(
      expect.objectContaining({ code: "configValueInvalid", message: expect.stringContaining(what) }),
    );
  });
});

it("writes seconds as devices read them", () => {
  expect([30, 3_723, 86_399].map(hoursMinutesSeconds)).toEqual(["00:00:30", "01:02:03", "23:59:59"]);
});
