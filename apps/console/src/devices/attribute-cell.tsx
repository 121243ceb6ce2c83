import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { ask, problemOf, r } from "../api/client.ts";

/** A row that is scrolled past within this time is not asked for; what was read is asked for again after a minute. */
const [stayMs, staleMs] = [150, 60_000];

/** What a device says about itself under a name. The list has no attributes, so that each row asks for its own, once for all its columns. */
export function AttributeCell({ of: targetId, name }: { of: string; name: string }) {
  const stays = useStays(targetId);
  const { queryFn } = ask(r.targets.attributes, { params: { targetId } });
  const { data, error } = useQuery({
    // Events of a fleet come every second: they find the list, and not each of its rows.
    queryKey: ["attributes of rows", targetId],
    queryFn,
    enabled: stays,
    staleTime: staleMs,
    refetchInterval: staleMs,
  });
  const value = data?.[name];
  if (value !== undefined) return <span title={value}>{value}</span>;
  return (
    <span className="muted" title={error === null ? undefined : problemOf(error).text}>
      {error !== null ? "!" : data === undefined ? "" : "–"}
    </span>
  );
}

/** Whether the same device was in the row for a moment. */
function useStays(targetId: string): boolean {
  const [stayed, setStayed] = useState<string>();
  useEffect(() => {
    const timer = setTimeout(() => setStayed(targetId), stayMs);
    return () => clearTimeout(timer);
  }, [targetId]);
  return stayed === targetId;
}
