---- MODULE Graphs ----
\* A graph is a record of its nodes and of its edges, which are pairs.
EXTENDS Naturals, Sequences, FiniteSets, SequencesExt, Relation

IsDirectedGraph(G) ==
  G = [node |-> G.node, edge |-> G.edge] /\ G.edge \subseteq G.node \X G.node
DirectedSubgraph(G) ==
  {H \in [node : SUBSET G.node, edge : SUBSET G.edge] : IsDirectedGraph(H)}
Transpose(G) == [node |-> G.node, edge |-> {<<e[2], e[1]>> : e \in G.edge}]
IsUndirectedGraph(G) == IsDirectedGraph(G) /\ Transpose(G).edge = G.edge
UndirectedSubgraph(G) == {H \in DirectedSubgraph(G) : IsUndirectedGraph(H)}
GraphUnion(G, H) == [node |-> G.node \cup H.node, edge |-> G.edge \cup H.edge]
EmptyGraph == [node |-> {}, edge |-> {}]
Graphs(S) == [node : {S}, edge : SUBSET (S \X S)]

LOCAL IsPath(p, G) == p # <<>> /\ \A i \in 1..(Len(p) - 1) : <<p[i], p[i + 1]>> \in G.edge
Path(G) == {p \in Seq(G.node) : IsPath(p, G)}
SimplePath(G) == {p \in SetToAllKPermutations(G.node) : IsPath(p, G)}
LOCAL Edges(G) == [p \in G.node \X G.node |-> p \in G.edge]
ConnectionsIn(G) == ReflexiveTransitiveClosure(Edges(G), G.node)
AreConnectedIn(m, n, G) == m \in G.node /\ n \in G.node /\ ConnectionsIn(G)[m, n]
IsStronglyConnected(G) == IsConnected(Edges(G), G.node)

Successors(G, n) == {m \in G.node : <<n, m>> \in G.edge}
Predecessors(G, n) == {m \in G.node : <<m, n>> \in G.edge}
AllSuccessors(G, S) == UNION {Successors(G, n) : n \in S}
AllPredecessors(G, S) == UNION {Predecessors(G, n) : n \in S}
Descendants(G, n) ==
  LET closure == TransitiveClosure(Edges(G), G.node) IN {m \in G.node : closure[n, m]}
Ancestors(G, n) == Descendants(Transpose(G), n)
InDegree(G, n) == Cardinality(Predecessors(G, n))
OutDegree(G, n) == Cardinality(Successors(G, n))
Roots(G) == {n \in G.node : Predecessors(G, n) = {}}
Leaves(G) == {n \in G.node : Successors(G, n) = {}}

HasCycle(G) ==
  LET closure == TransitiveClosure(Edges(G), G.node) IN \E n \in G.node : closure[n, n]
IsDag(G) == IsDirectedGraph(G) /\ ~HasCycle(G)
\* Edges go to the root.
IsTreeWithRoot(G, r) ==
  /\ IsDirectedGraph(G)
  /\ r \in G.node
  /\ \A e \in G.edge : e[1] # r /\ \A f \in G.edge : e[1] = f[1] => e = f
  /\ LET connected == ConnectionsIn(G) IN \A n \in G.node : connected[n, r]
IsBipartiteWithPartitions(G, U, V) ==
  /\ U \cap V = {}
  /\ G.node \subseteq U \cup V
  /\ \A e \in G.edge : e \in U \X V \/ e \in V \X U
====
