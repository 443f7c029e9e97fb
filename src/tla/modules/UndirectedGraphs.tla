---- MODULE UndirectedGraphs ----
\* A graph is a record of its nodes and of its edges, which are sets of one or two nodes.
EXTENDS Naturals, Sequences, FiniteSets, SequencesExt, Relation

IsUndirectedGraph(G) ==
  /\ G = [node |-> G.node, edge |-> G.edge]
  /\ \A e \in G.edge : \E a, b \in G.node : e = {a, b}
IsLoopFreeUndirectedGraph(G) ==
  IsUndirectedGraph(G) /\ \A e \in G.edge : Cardinality(e) = 2
UndirectedSubgraph(G) ==
  {H \in [node : SUBSET G.node, edge : SUBSET G.edge] : IsUndirectedGraph(H)}
UndirectedGraphs(S) == [node : {S}, edge : SUBSET {{s, t} : s, t \in S}]

LOCAL IsPath(p, G) == p # <<>> /\ \A i \in 1..(Len(p) - 1) : {p[i], p[i + 1]} \in G.edge
Path(G) == {p \in Seq(G.node) : IsPath(p, G)}
SimplePath(G) == {p \in SetToAllKPermutations(G.node) : IsPath(p, G)}
LOCAL Connections(G) ==
  ReflexiveTransitiveClosure([m, n \in G.node |-> {m, n} \in G.edge], G.node)
AreConnectedIn(m, n, G) == m \in G.node /\ n \in G.node /\ Connections(G)[m, n]
ConnectedComponents(G) ==
  LET connected == Connections(G) IN {{m \in G.node : connected[m, n]} : n \in G.node}
IsStronglyConnected(G) == ConnectedComponents(G) = {G.node}
====
