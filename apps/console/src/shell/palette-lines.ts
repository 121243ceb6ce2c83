import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useDeferredValue } from "react";
import { ask, r } from "../api/client.ts";
import { me } from "../api/session.ts";
import { partOf } from "../settings/configs.state.ts";
import { settingParts } from "../settings/parts.ts";
import { schemaOfConfigs } from "../settings/schema.ts";
import { systemParts } from "../system/parts.ts";
import { jumping, nav, settingTitles, shell as t } from "../text/en.ts";
import { placesFor } from "./navigation.ts";
import { type Found, isMeant, type Jump, jumpsOf, type Lines, stillFound } from "./palette.state.ts";

/** What the text leads to. Hits of an earlier text stay until the new ones are there, as far as the text still finds them. */
export function useLines(text: string): Lines {
  const asked = useDeferredValue(text);
  const { data: who } = useQuery(me);
  const found = useQuery({
    ...ask(r.search.find, { query: { text: asked, limit: 6 } }),
    enabled: asked !== "",
    placeholderData: keepPreviousData,
  });
  const held = who?.permissions ?? [];
  const places = placesFor(held)
    .flatMap(({ places }) => places)
    .map(({ to, label }): Jump => ({ id: to, group: t.goTo, label, to }));
  const pages = [...places, ...(text === "" ? [] : partsFor(held))].filter(({ label }) => isMeant(label, text));
  const isKnown = text === "" || (asked === text && !found.isPending && !found.isPlaceholderData);
  const data = text === "" ? {} : ((found.data ?? {}) as Found);
  const settings = useSettings(text, held);
  const lines = [...pages, ...jumpsOf(isKnown ? data : stillFound(data, text), jumping.kinds), ...settings.lines];
  return { pages: pages.length, lines, isKnown: isKnown && settings.areKnown };
}

/** The parts of pages that somebody with these permissions may see. */
const partsFor = (permissions: readonly string[]): Jump[] =>
  [
    { of: nav.settings, at: "settings", parts: settingParts },
    { of: nav.system, at: "system", parts: systemParts },
  ].flatMap(({ of, at, parts }) =>
    parts
      .filter(({ needs }) => needs.permission.every((name) => permissions.includes(name)))
      .map(({ id, label }) => ({ id: `${at}/${id}`, group: t.goTo, label, beside: of, to: `/${at}/${id}` })),
  );

/** A text that is shorter would mean most settings. */
const leastOfSetting = 2;

/** The settings whose titles the text means, each on its page; they come last, because the server is asked for what there is. */
function useSettings(text: string, permissions: readonly string[]): { lines: Jump[]; areKnown: boolean } {
  const may = r.configs.list.permission.every((name) => permissions.includes(name));
  const { data = [], isLoading } = useQuery({ ...schemaOfConfigs, enabled: may && text.length >= leastOfSetting });
  if (text.length < leastOfSetting) return { lines: [], areKnown: true };
  const lines = data.map((row): Jump => {
    const label = settingTitles[row.key] ?? row.key;
    return { id: `setting-${row.key}`, group: nav.settings, label, to: `/settings/${partOf(row)}` };
  });
  return { lines: lines.filter(({ label }) => isMeant(label, text)), areKnown: !isLoading };
}
