"""Pictures of KartaView."""
