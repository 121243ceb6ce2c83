import { useQuery } from "@tanstack/react-query";
import type { LucideIcon } from "lucide-react";
import type { Asked } from "../api/client.ts";
import { states } from "../text/en.ts";
import { Button } from "./button.tsx";
import { count } from "./format.ts";
import { Empty } from "./states.tsx";

interface NothingMatchesProps {
  readonly icon?: LucideIcon;
  /** The list without its filter: how many there are that do not match. */
  readonly all: Asked<{ readonly total?: number | undefined }>;
  /** What it counts no further than. */
  readonly atMost?: number;
  /** Ends the filter. */
  readonly clear: () => void;
}

/** A list that its filter leaves empty: of how many, and how to see them again. */
export function NothingMatches({ icon, all, atMost, clear }: NothingMatchesProps) {
  const total = useQuery(all).data?.total;
  const shown = total === undefined ? undefined : atMost !== undefined && total >= atMost ? states.moreThan(count(atMost)) : count(total);
  return (
    // The line is there before its number, so that the button stays where it is.
    <Empty title={states.nothingMatches} text={shown === undefined ? "\u00a0" : states.noneOf(shown)} {...(icon && { icon })}>
      <Button onClick={clear}>{states.clearFilter}</Button>
    </Empty>
  );
}
